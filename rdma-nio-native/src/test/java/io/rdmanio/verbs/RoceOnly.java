package io.rdmanio.verbs;

import io.rdmanio.verbs.cm.TestDevice;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** A test of what iWARP, or its software device siw, does not have; skipped there. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RoceOnly.Condition.class)
public @interface RoceOnly {
    /** What is missing there, such as "iWARP has no immediate data". */
    String value();

    /** Skips the test on an iWARP device. */
    final class Condition implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return AnnotationSupport.findAnnotation(context.getElement(), RoceOnly.class)
                    .filter(_ -> TestDevice.isIwarp())
                    .map(annotation -> ConditionEvaluationResult.disabled(annotation.value()))
                    .orElseGet(() -> ConditionEvaluationResult.enabled(""));
        }
    }
}
