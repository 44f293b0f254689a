package blog;

import static dev.thriftstore.testing.Condition.requests;
import static dev.thriftstore.testing.Expectation.times;
import static dev.thriftstore.testing.Rule.when;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.thriftstore.testing.Database;
import dev.thriftstore.testing.Fault;
import dev.thriftstore.testing.FaultError;
import dev.thriftstore.testing.Operation;
import dev.thriftstore.testing.Thriftstore;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import me.prettyprint.hector.api.exceptions.HTimedOutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The blog, each test with the server in the state of its start. */
@Thriftstore
class BlogTest {
    private Hector hector;
    private Blog blog;

    @BeforeEach
    void connect(Database database) {
        hector = new Hector(database);
        blog = new Blog(hector.keyspace());
    }

    @AfterEach
    void disconnect() {
        hector.close();
    }

    @Test
    void tagsListPostsNewestFirst() {
        blog.publish(new Post("first", "The first", Arrays.asList("life", "music"), 1_000));
        blog.publish(new Post("third", "The third", Collections.singletonList("life"), 3_000));
        blog.publish(new Post("second", "The second", Collections.singletonList("life"), 2_000));
        assertEquals(Arrays.asList("third", "second", "first"), blog.tagged("life"));
        assertEquals(Collections.singletonList("first"), blog.tagged("music"));
        assertEquals("The second", blog.title("second"));
    }

    @Test
    void commentsAreListedOldestFirst() {
        blog.comment("first", "Bob", "Does it?", 2_000);
        blog.comment("first", "Ada", "It works.", 1_000);
        assertEquals(Arrays.asList("Ada: It works.", "Bob: Does it?"), blog.comments("first"));
    }

    @Test
    void commentIsWrittenOnceIfItsWriteTimesOutButIsApplied(Database database) {
        Fault lost = database.fault(when(requests()
                        .operation(Operation.WRITE)
                        .columnFamily("Comments")
                        .key("first"))
                .error(FaultError.TIMED_OUT)
                .applied()
                .times(1));
        blog.comment("first", "Ada", "It works.", 1_000);
        assertEquals(Collections.singletonList("Ada: It works."), blog.comments("first"));
        assertEquals(1, lost.hits());
        // The blog has sent the comment twice.
        database.verify(times(2, requests().operation(Operation.WRITE).columnFamily("Comments")));
    }

    @Test
    void commentFailsIfAllWritesTimeOut(Database database) {
        try (Fault slow =
                database.fault(when(requests().columnFamily("Comments")).error(FaultError.TIMED_OUT))) {
            assertThrows(HTimedOutException.class, () -> blog.comment("first", "Ada", "It works.", 1_000));
            assertEquals(3, slow.hits());
        }
        assertEquals(Collections.emptyList(), blog.comments("first"));
    }

    @Test
    void postIsNewForAnHour(Database database) {
        blog.publish(new Post("first", "The first", Collections.emptyList(), 1_000));
        database.clock().freeze();
        blog.markAsNew("first", 3600);
        database.clock().advance(Duration.ofMinutes(59));
        assertTrue(blog.isNew("first"));
        database.clock().advance(Duration.ofMinutes(1));
        assertFalse(blog.isNew("first"));
    }
}
