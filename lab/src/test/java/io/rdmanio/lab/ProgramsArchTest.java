package io.rdmanio.lab;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import io.rdmanio.linux.Poll;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** What the programs of the lab know of ours: those on channels nothing, those on verbs the exported packages and poll. */
class ProgramsArchTest {
    private static final String PROGRAMS = "io.rdmanio.lab.programs";
    private static final String VERBS_PROGRAMS = "io.rdmanio.lab.verbs";
    private static final String STREAM_PROGRAMS = "io.rdmanio.lab.streams";
    private static final String HOST = "io.rdmanio.lab.host";

    @Test
    void programs_dependOnNothingOfOurs() {
        JavaClasses programs = new ClassFileImporter().importPackages(PROGRAMS);
        Assertions.assertThat(programs.stream().map(JavaClass::getSimpleName))
                .contains("JettyFileServer", "RstreamPeer", "EchoClient");
        ArchRule rule = classes()
                .that()
                .resideInAPackage(PROGRAMS)
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(PROGRAMS, "java..", "org.eclipse.jetty..", "io.netty..");
        rule.check(programs);
    }

    @Test
    void programsOnVerbs_useWhatIsExported() {
        JavaClasses programs = new ClassFileImporter().importPackages(VERBS_PROGRAMS);
        Assertions.assertThat(programs.stream().map(JavaClass::getSimpleName)).contains("Rping");
        ArchRule rule = classes()
                .that()
                .resideInAPackage(VERBS_PROGRAMS)
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(
                                VERBS_PROGRAMS,
                                HOST,
                                "java..",
                                "com.sun.management",
                                "io.rdmanio.verbs",
                                "io.rdmanio.verbs.cm")
                        .or(type(Poll.class)));
        rule.check(programs);
    }

    @Test
    void programsWhoseStreamsAreCompared_dependOnNothingOfOurs() {
        JavaClasses programs = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages(STREAM_PROGRAMS);
        Assertions.assertThat(programs.stream().map(JavaClass::getSimpleName)).contains("StreamSpeed");
        ArchRule rule = classes()
                .that()
                .resideInAPackage(STREAM_PROGRAMS)
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(STREAM_PROGRAMS, HOST, "java..", "com.sun.management");
        rule.check(programs);
    }
}
