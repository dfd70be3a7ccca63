import com.palantir.javaformat.java.Formatter;
import com.palantir.javaformat.java.FormatterException;
import com.palantir.javaformat.java.JavaFormatterOptions;
import com.palantir.javaformat.java.JavaFormatterOptions.Style;
import java.io.IOException;
import java.io.UncheckedIOException;
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
        List<Source> sources = javaSources(root.resolve(args[2]).normalize()).parallelStream()
                .map(path -> Source.of(path, formatter))
                .toList();
        List<String> faults = new ArrayList<>();
        for (Source source : sources) {
            String name = root.relativize(source.path).toString();
            if (source.fault != null) {
                faults.add(name + ": " + source.fault);
            } else if (!source.formatted.equals(source.text)) {
                if (apply) {
                    Files.writeString(source.path, source.formatted);
                    System.err.println("formatted: " + name);
                } else {
                    faults.add("not formatted: " + name);
                }
            }
        }
        faults.forEach(System.err::println);
        if (!faults.isEmpty()) {
            if (!apply) {
                System.err.println("To format them: mvn -q -pl format verify -Dformat.mode=apply");
            }
            System.exit(1);
        }
    }

    /** A file as it is, and as it should be or why nobody knows. */
    private record Source(Path path, String text, String formatted, String fault) {
        /** Does no more than read: called by several threads. */
        static Source of(Path path, Formatter formatter) {
            try {
                String text = Files.readString(path);
                try {
                    return new Source(path, text, formatter.formatSourceAndFixImports(text), null);
                } catch (FormatterException e) {
                    return new Source(path, text, null, e.getMessage());
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
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
