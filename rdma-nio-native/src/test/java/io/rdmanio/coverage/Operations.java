package io.rdmanio.coverage;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The Java operations of C functions, read from the sources: a public method whose javadoc names a manual page in its
 * first sentence, as in "Creates a queue (ibv_create_cq(3)).", is an operation of that function.
 */
final class Operations {
    private static final Pattern MANUAL_PAGE = Pattern.compile("\\b(\\w+)\\(3\\)");
    private static final String CONSTRUCTOR = "<init>";

    /** A public method or constructor. */
    record Operation(String typeName, String methodName) implements Comparable<Operation> {
        /** As the page shows it. */
        String display() {
            String simple = typeName.substring(typeName.lastIndexOf('.') + 1);
            return methodName.equals(CONSTRUCTOR) ? "new " + simple : simple + "." + methodName;
        }

        @Override
        public int compareTo(Operation other) {
            return display().compareTo(other.display());
        }
    }

    private Operations() {}

    /** All operations of all functions below a source folder, by function. */
    static Map<String, List<Operation>> of(Path sources) throws IOException {
        List<Path> files;
        try (Stream<Path> walk = Files.walk(sources)) {
            files = walk.filter(file -> file.toString().endsWith(".java")).toList();
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Map<String, List<Operation>> operations = new TreeMap<>();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask)
                    compiler.getTask(null, manager, null, null, null, manager.getJavaFileObjectsFromPaths(files));
            DocTrees trees = DocTrees.instance(task);
            for (CompilationUnitTree unit : task.parse()) {
                new Scanner(trees, operations).scan(unit, null);
            }
        }
        return operations;
    }

    private static final class Scanner extends TreePathScanner<Void, Void> {
        private final DocTrees trees;
        private final Map<String, List<Operation>> operations;

        Scanner(DocTrees trees, Map<String, List<Operation>> operations) {
            this.trees = trees;
            this.operations = operations;
        }

        @Override
        public Void visitMethod(MethodTree method, Void unused) {
            if (isPublic(method) && trees.getDocCommentTree(getCurrentPath()) != null) {
                String firstSentence = trees.getDocCommentTree(getCurrentPath())
                        .getFirstSentence()
                        .toString();
                Matcher matcher = MANUAL_PAGE.matcher(firstSentence);
                while (matcher.find()) {
                    operations
                            .computeIfAbsent(matcher.group(1), _ -> new ArrayList<>())
                            .add(new Operation(
                                    typeName(getCurrentPath()), method.getName().toString()));
                }
            }
            return super.visitMethod(method, null);
        }

        private boolean isPublic(MethodTree method) {
            ClassTree owner = (ClassTree) getCurrentPath().getParentPath().getLeaf();
            return owner.getModifiers().getFlags().contains(Modifier.PUBLIC)
                    && (owner.getKind() == Tree.Kind.INTERFACE
                            || method.getModifiers().getFlags().contains(Modifier.PUBLIC));
        }

        private static String typeName(TreePath method) {
            StringBuilder name = new StringBuilder();
            for (TreePath path = method.getParentPath(); path != null; path = path.getParentPath()) {
                if (path.getLeaf() instanceof ClassTree type) {
                    name.insert(0, (name.isEmpty() ? "" : "$")).insert(0, type.getSimpleName());
                }
            }
            return method.getCompilationUnit().getPackageName() + "." + name;
        }
    }
}
