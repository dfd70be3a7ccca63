package io.rdmanio.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.rdmanio.abi.HeaderFacts;
import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares every layout and every constant that is used with the installed headers. */
class AbiProofTest {
    @TempDir
    Path directory;

    private List<String> differences(Map<String, Long> ours) throws IOException, InterruptedException {
        return HeaderFacts.differences(ours, HeaderFacts.evaluate(AbiTable.HEADERS, ours.keySet(), directory));
    }

    @Test
    void layouts_areThoseOfTheHeaders() throws Exception {
        assertThat(differences(AbiTable.layouts(AbiTable.STRUCTS))).isEmpty();
    }

    @Test
    void constants_areThoseOfTheHeaders() throws Exception {
        assertThat(differences(AbiTable.constants())).isEmpty();
    }

    @Test
    void plantedWrongOffset_isReported() throws Exception {
        List<Struct> structs = new ArrayList<>(AbiTable.STRUCTS);
        List<Field> fields = new ArrayList<>(RdmaCmId.STRUCT.fields());
        fields.set(fields.indexOf(RdmaCmId.PS), new Field.U32("ps", RdmaCmId.PS.offset() + 4));
        structs.set(
                structs.indexOf(RdmaCmId.STRUCT),
                new Struct(RdmaCmId.STRUCT.nativeName(), RdmaCmId.STRUCT.size(), fields));
        assertThat(differences(AbiTable.layouts(structs)))
                .containsExactly("offsetof(struct rdma_cm_id, ps) is 344 in C and 348 here");
    }

    @Test
    void plantedWrongSizes_areReported() throws Exception {
        Struct wrong = Struct.of("struct ibv_sge", 24, new Field.U64("lkey", 12));
        assertThat(differences(AbiTable.layouts(List.of(wrong))))
                .containsExactly(
                        "sizeof(struct ibv_sge) is 16 in C and 24 here",
                        "sizeof(((struct ibv_sge *) 0)->lkey) is 4 in C and 8 here");
    }

    @Test
    void table_holdsEveryLayoutAndEveryField() throws Exception {
        int layouts = 0;
        for (JavaClass javaClass : new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("io.rdmanio.verbs")) {
            if (javaClass.getFields().stream()
                    .noneMatch(field -> field.getRawType().isEquivalentTo(Struct.class))) {
                continue;
            }
            List<Object> constants = constantsOf(Class.forName(javaClass.getName()));
            for (Object constant : constants) {
                if (constant instanceof Struct struct) {
                    layouts++;
                    assertThat(AbiTable.STRUCTS).contains(struct);
                    assertThat(struct.fields())
                            .as(javaClass.getName())
                            .containsExactlyElementsOf(constants.stream()
                                    .filter(Field.class::isInstance)
                                    .map(Field.class::cast)
                                    .toList());
                }
            }
        }
        assertThat(layouts).isEqualTo(AbiTable.STRUCTS.size());
    }

    @Test
    void table_holdsEveryPublicConstant() {
        AbiTable.publicConstants()
                .forEach((holder, names) -> assertThat(names.values())
                        .as(holder.getName())
                        .containsExactlyInAnyOrderElementsOf(Arrays.stream(holder.getFields())
                                .filter(field -> field.getType() == int.class)
                                .map(field -> Long.valueOf((int) get(field)))
                                .toList()));
    }

    private static List<Object> constantsOf(Class<?> type) {
        return Arrays.stream(type.getDeclaredFields())
                .filter(field -> Modifier.isStatic(field.getModifiers()))
                .filter(field -> field.getType() == Struct.class || Field.class.isAssignableFrom(field.getType()))
                .map(AbiProofTest::get)
                .toList();
    }

    private static Object get(java.lang.reflect.Field field) {
        try {
            return field.get(null);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}
