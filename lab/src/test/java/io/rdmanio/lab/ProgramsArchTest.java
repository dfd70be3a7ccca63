package io.rdmanio.lab;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** The programs of the lab know nothing of the provider. */
class ProgramsArchTest {
    private static final String PROGRAMS = "io.rdmanio.lab.programs";

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
}
