package io.rdmanio;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The layers of both modules: imports run downwards only, and native calls are made in two packages. */
@AnalyzeClasses(packages = "io.rdmanio", importOptions = ImportOption.DoNotIncludeTests.class)
class ProviderArchTest {
    @ArchTest
    static final ArchRule LAYERS = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .layer("api")
            .definedBy("io.rdmanio")
            .layer("ch")
            .definedBy("io.rdmanio.ch")
            .layer("policy")
            .definedBy("io.rdmanio.policy")
            .layer("stream")
            .definedBy("io.rdmanio.stream")
            .layer("cm")
            .definedBy("io.rdmanio.verbs.cm")
            .layer("verbs")
            .definedBy("io.rdmanio.verbs")
            .layer("spi")
            .definedBy("io.rdmanio.verbs.spi")
            .layer("engines")
            .definedBy("io.rdmanio.verbs.ffm", "io.rdmanio.verbs.soft")
            .layer("linux")
            .definedBy("io.rdmanio.linux")
            .whereLayer("api")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("ch")
            .mayOnlyBeAccessedByLayers("api")
            .whereLayer("policy")
            .mayOnlyBeAccessedByLayers("api", "ch")
            .whereLayer("stream")
            .mayOnlyBeAccessedByLayers("api", "ch")
            .whereLayer("cm")
            .mayOnlyBeAccessedByLayers("api", "ch", "stream", "spi", "engines")
            .whereLayer("spi")
            .mayOnlyBeAccessedByLayers("verbs", "cm", "engines")
            .whereLayer("engines")
            .mayNotBeAccessedByAnyLayer();

    @ArchTest
    static final ArchRule NATIVE_CALLS = noClasses()
            .that()
            .resideOutsideOfPackages("io.rdmanio.verbs.ffm", "io.rdmanio.linux")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.lang.foreign.Linker");

    @ArchTest
    static final ArchRule NO_INTERNALS_OF_THE_JDK =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("sun..", "jdk.internal..");

    @ArchTest
    static final ArchRule IMPLEMENTATIONS_ARE_NAMED_SO = classes()
            .that()
            .areAssignableTo(java.nio.channels.SelectableChannel.class)
            .and()
            .doNotHaveModifier(com.tngtech.archunit.core.domain.JavaModifier.ABSTRACT)
            .should()
            .haveSimpleNameEndingWith("Impl");
}
