package io.rdmanio;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;

/** Who may know whom in this module. */
@AnalyzeClasses(packages = "io.rdmanio", importOptions = ImportOption.DoNotIncludeTests.class)
class NativeArchTest {
    @ArchTest
    static final ArchRule onlyFfmAndLinux_callNativeCode = noClasses()
            .that()
            .resideOutsideOfPackages("io.rdmanio.verbs.ffm", "io.rdmanio.linux")
            .should()
            .dependOnClassesThat()
            .areAssignableTo(Linker.class)
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(SymbolLookup.class);

    @ArchTest
    static final ArchRule objects_knowNoEngine = noClasses()
            .that()
            .resideInAnyPackage("io.rdmanio.verbs", "io.rdmanio.verbs.cm", "io.rdmanio.verbs.spi")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.rdmanio.verbs.ffm", "io.rdmanio.verbs.soft");

    @ArchTest
    static final ArchRule linux_knowsNothingOfVerbs = noClasses()
            .that()
            .resideInAPackage("io.rdmanio.linux")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.rdmanio.verbs..");

    @ArchTest
    static final ArchRule verbs_knowNothingOfTheConnectionManager = noClasses()
            .that()
            .resideInAPackage("io.rdmanio.verbs")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.rdmanio.verbs.cm");

    @ArchTest
    static final ArchRule ffm_knowsNothingOfTheSoftwareDevice = noClasses()
            .that()
            .resideInAPackage("io.rdmanio.verbs.ffm")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.rdmanio.verbs.soft");

    @ArchTest
    static final ArchRule softwareDevice_knowsNothingOfFfm = noClasses()
            .that()
            .resideInAPackage("io.rdmanio.verbs.soft")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.rdmanio.verbs.ffm");

    @ArchTest
    static final ArchRule engines_showThemselvesOnlyAsServices = classes()
            .that()
            .resideInAnyPackage("io.rdmanio.verbs.ffm", "io.rdmanio.verbs.soft")
            .and()
            .areTopLevelClasses()
            .and()
            .doNotHaveSimpleName("FfmEngine")
            .and()
            .doNotHaveSimpleName("SoftEngine")
            .should()
            .notBePublic();
}
