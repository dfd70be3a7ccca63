package io.rdmanio.verbs;

import io.rdmanio.verbs.cm.TestDevice;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** A test of what not every device has; skipped, with the reason, on a device that lacks it. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(Needs.Condition.class)
public @interface Needs {
    /** What the device must have. */
    Feature[] value();

    /** Skips the test on a device that lacks one of the features. */
    final class Condition implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return AnnotationSupport.findAnnotation(context.getElement(), Needs.class).stream()
                    .flatMap(needs -> Stream.of(needs.value()))
                    .filter(feature -> !TestDevice.has(feature))
                    .findFirst()
                    .map(feature -> ConditionEvaluationResult.disabled("no " + feature.description() + ": "
                            + feature.reasonToLack(TestDevice.kind()).orElseThrow()))
                    .orElseGet(() -> ConditionEvaluationResult.enabled(""));
        }
    }
}
