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

/** A test of what happens on a device that lacks something; skipped where the device has it. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(Without.Condition.class)
public @interface Without {
    /** What the device must lack. */
    Feature value();

    /** Skips the test on a device that has the feature. */
    final class Condition implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return AnnotationSupport.findAnnotation(context.getElement(), Without.class)
                    .filter(without -> TestDevice.has(without.value()))
                    .map(without -> ConditionEvaluationResult.disabled(
                            "the device has " + without.value().description()))
                    .orElseGet(() -> ConditionEvaluationResult.enabled(""));
        }
    }
}
