package io.rdmanio.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Children that change or gain parents. */
@ExtendWith(LeakCheck.class)
class LifecycleMoveTest {
    private final List<String> destroyed = new ArrayList<>();

    private Lifecycle life(String name, Lifecycle... parents) {
        return new Lifecycle(HandleKind.EVENT_CHANNEL, () -> destroyed.add(name), parents);
    }

    @Test
    void move_makesTheNewParentCloseTheChild() throws VerbsException {
        Lifecycle from = life("from");
        Lifecycle to = life("to");
        Lifecycle child = life("child", from);
        child.move(from, to);
        from.close();
        assertThat(destroyed).containsExactly("from");
        to.close();
        assertThat(destroyed).containsExactly("from", "child", "to");
    }

    @Test
    void move_toTheSameParentChangesNothing() throws VerbsException {
        Lifecycle parent = life("parent");
        Lifecycle child = life("child", parent);
        child.move(parent, parent);
        parent.close();
        assertThat(destroyed).containsExactly("child", "parent");
    }

    @Test
    void addParent_letsEitherParentCloseTheChildOnce() throws VerbsException {
        Lifecycle first = life("first");
        Lifecycle second = life("second");
        Lifecycle child = life("child", first);
        child.addParent(second);
        second.close();
        first.close();
        assertThat(destroyed).containsExactly("child", "second", "first");
    }
}
