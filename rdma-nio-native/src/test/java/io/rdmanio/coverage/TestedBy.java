package io.rdmanio.coverage;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.properties.CanBeAnnotated;
import com.tngtech.archunit.core.domain.properties.HasAnnotations;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.rdmanio.coverage.Operations.Operation;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.TestedDevice;
import io.rdmanio.verbs.Without;
import java.lang.annotation.Annotation;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.platform.commons.annotation.Testable;

/**
 * Which tests call which operations, read from the class files: a test method with what the test class does around it,
 * and with the helpers of the tests that these call, but not through the product's own code.
 */
final class TestedBy {
    /** Where a test runs. */
    enum Where {
        /** In the lab, on both devices. */
        BOTH_DEVICES,
        /** In the lab, on the RoCE device alone or on the iWARP device alone. */
        ONE_DEVICE,
        /** In the plain build, on the software device. */
        SOFT,
        /** In the plain build, with an engine or a driver of the test's own. */
        PLAIN
    }

    private final JavaClasses classes = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.ONLY_INCLUDE_TESTS)
            .importPackages("io.rdmanio");
    // By operation: where its tests run, and the classes they are in.
    private final Map<Operation, Map<Where, Set<String>>> tests = new TreeMap<>();
    private final Set<String> names = new TreeSet<>();

    TestedBy(Collection<Operation> operations) {
        Set<Operation> wanted = Set.copyOf(operations);
        classes.stream()
                .filter(type -> !type.getModifiers().contains(com.tngtech.archunit.core.domain.JavaModifier.ABSTRACT))
                .forEach(type -> methods(type)
                        .filter(method -> method.isMetaAnnotatedWith(Testable.class))
                        .forEach(method -> record(type, method, wanted)));
    }

    private static Stream<JavaMethod> methods(JavaClass type) {
        return type.getAllMethods().stream();
    }

    private void record(JavaClass type, JavaMethod test, Set<Operation> wanted) {
        names.add(type.getSimpleName() + "#" + test.getName());
        Deque<JavaCodeUnit> toVisit = new ArrayDeque<>(type.getConstructors());
        toVisit.add(test);
        methods(type)
                .filter(method -> method.isAnnotatedWith(BeforeEach.class) || method.isAnnotatedWith(AfterEach.class))
                .forEach(toVisit::add);
        Set<Where> places = places(type, test);
        Set<JavaCodeUnit> visited = new HashSet<>();
        while (!toVisit.isEmpty()) {
            JavaCodeUnit unit = toVisit.poll();
            if (!visited.add(unit)) {
                continue;
            }
            Stream.concat(unit.getCallsFromSelf().stream(), unit.getMethodReferencesFromSelf().stream())
                    .forEach(access -> {
                        target(access, wanted)
                                .forEach(operation ->
                                        places.forEach(place -> tests.computeIfAbsent(operation, _ -> new TreeMap<>())
                                                .computeIfAbsent(place, _ -> new TreeSet<>())
                                                .add(type.getSimpleName())));
                        access.getTarget()
                                .resolveMember()
                                .filter(member ->
                                        classes.contain(member.getOwner().getName()))
                                .ifPresent(toVisit::add);
                    });
            unit.getConstructorReferencesFromSelf()
                    .forEach(access -> access.getTarget()
                            .resolveMember()
                            .filter(member -> classes.contain(member.getOwner().getName()))
                            .ifPresent(toVisit::add));
        }
    }

    /** The operation that an access is to; a subclass's name may stand for the declaring class's. */
    private static Stream<Operation> target(JavaAccess<?> access, Set<Operation> wanted) {
        return Stream.concat(
                        Stream.of(access.getTargetOwner()), access.getTargetOwner().getAllRawSuperclasses().stream())
                .map(owner -> new Operation(owner.getName(), access.getTarget().getName()))
                .filter(wanted::contains)
                .limit(1);
    }

    private static Set<Where> places(JavaClass type, JavaMethod test) {
        if (!isTagged(type) && !test.isAnnotatedWith(Tag.class)) {
            return Set.of(Where.PLAIN);
        }
        Set<Where> places = EnumSet.noneOf(Where.class);
        boolean roce = runsOn(TestedDevice.ROCE, type, test);
        boolean iwarp = runsOn(TestedDevice.IWARP, type, test);
        if (roce && iwarp) {
            places.add(Where.BOTH_DEVICES);
        } else if (roce || iwarp) {
            places.add(Where.ONE_DEVICE);
        }
        if (runsOn(TestedDevice.SOFT, type, test)) {
            places.add(Where.SOFT);
        }
        return places;
    }

    private static boolean runsOn(TestedDevice device, JavaClass type, JavaMethod test) {
        return Stream.<CanBeAnnotated>of(type, test).allMatch(element -> hasWhatIsNeeded(device, element));
    }

    private static boolean hasWhatIsNeeded(TestedDevice device, CanBeAnnotated element) {
        return annotation(element, Needs.class)
                        .map(needs -> Stream.of(needs.value()).allMatch(feature -> feature.isOf(device)))
                        .orElse(true)
                && annotation(element, Without.class)
                        .map(without -> !without.value().isOf(device))
                        .orElse(true);
    }

    private static <A extends Annotation> Optional<A> annotation(CanBeAnnotated element, Class<A> annotation) {
        if (!element.isAnnotatedWith(annotation)) {
            return Optional.empty();
        }
        return Optional.of(((HasAnnotations<?>) element).getAnnotationOfType(annotation));
    }

    private static boolean isTagged(JavaClass type) {
        return type.isAnnotatedWith(Tag.class)
                || type.getAllRawSuperclasses().stream().anyMatch(owner -> owner.isAnnotatedWith(Tag.class));
    }

    /** All tests, as Class#method. */
    Set<String> names() {
        return names;
    }

    /** The test classes that call one of these operations there, those that call the fewest others first. */
    List<String> classesThatCall(Collection<Operation> operations, Where where) {
        Set<String> found = new TreeSet<>();
        for (Operation operation : operations) {
            found.addAll(tests.getOrDefault(operation, Map.of()).getOrDefault(where, Set.of()));
        }
        return found.stream()
                .sorted(Comparator.comparingInt(this::operationsOf))
                .toList();
    }

    private int operationsOf(String testClass) {
        return (int) tests.values().stream()
                .filter(byPlace -> byPlace.values().stream().anyMatch(classNames -> classNames.contains(testClass)))
                .count();
    }
}
