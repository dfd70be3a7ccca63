package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Ends every test with a look for handles and descriptors that it left open. */
public final class LeakCheck implements BeforeEachCallback, AfterEachCallback {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(LeakCheck.class);

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        assertThat(OpenHandles.describe()).as("open before the test").isEqualTo("none");
        context.getStore(NAMESPACE).put("descriptors", descriptors());
    }

    @Override
    public void afterEach(ExtensionContext context) throws IOException {
        assertThat(OpenHandles.describe()).as("left open by the test").isEqualTo("none");
        assertThat(OpenHandles.count()).isZero();
        Object before = context.getStore(NAMESPACE).get("descriptors");
        assertThat(descriptors()).as("descriptors after the test").isEqualTo(before);
    }

    /** What the descriptors of this process refer to; files of the class path come and go with class loading. */
    public static List<String> descriptors() throws IOException {
        try (Stream<Path> entries = Files.list(DESCRIPTORS)) {
            return entries.map(LeakCheck::target)
                    .filter(target -> target.startsWith("anon_inode:")
                            || target.startsWith("socket:")
                            || target.startsWith("pipe:")
                            || target.startsWith("/memfd:rdmanio")
                            || target.startsWith("/memfd:")
                            || target.startsWith("/dev/infiniband"))
                    .map(target -> target.replaceFirst("\\[\\d+]", ""))
                    .sorted()
                    .toList();
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "";
        }
    }
}
