import com.palantir.javaformat.java.Formatter;
import com.palantir.javaformat.java.FormatterException;
import com.palantir.javaformat.java.JavaFormatterOptions;
import com.palantir.javaformat.java.JavaFormatterOptions.Style;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Checks or applies palantir-java-format: {@code java Format.java check|apply ROOT PATH}, PATH relative to ROOT. */
final class Format {
    private static final Set<String> SKIPPED_DIRECTORIES = Set.of("target", "build", ".git");

    private Format() {}

    public static void main(String[] args) throws IOException {
        boolean apply = switch (args[0]) {
            case "check" -> false;
            case "apply" -> true;
            default -> throw new IllegalArgumentException("format.mode is check or apply, not " + args[0]);
        };
        Path root = Path.of(args[1]).toRealPath();
        Formatter formatter = Formatter.createFormatter(
                JavaFormatterOptions.builder().style(Style.PALANTIR).build());
        List<String> changed = new ArrayList<>();
        for (Path source : javaSources(root.resolve(args[2]).normalize())) {
            String before = Files.readString(source);
            String after;
            try {
                after = formatter.formatSourceAndFixImports(before);
            } catch (FormatterException e) {
                System.err.println(root.relativize(source) + ": " + e.getMessage());
                System.exit(1);
                return;
            }
            if (!after.equals(before)) {
                changed.add(root.relativize(source).toString());
                if (apply) {
                    Files.writeString(source, after);
                }
            }
        }
        changed.forEach(file -> System.err.println((apply ? "formatted: " : "not formatted: ") + file));
        if (!apply && !changed.isEmpty()) {
            System.err.println("To format them: mvn -q -pl format verify -Dformat.mode=apply");
            System.exit(1);
        }
    }

    private static List<Path> javaSources(Path start) throws IOException {
        List<Path> sources = new ArrayList<>();
        Files.walkFileTree(start, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                return SKIPPED_DIRECTORIES.contains(directory.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().endsWith(".java")) {
                    sources.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        sources.sort(null);
        return sources;
    }
}
