package blog;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.thriftstore.testing.Database;
import dev.thriftstore.testing.Thriftstore;
import java.util.Collections;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests that run in parallel, each in a sandbox: all write the same post. */
@Thriftstore(sandbox = true)
@Execution(ExecutionMode.CONCURRENT)
class ParallelBlogTest {
    private static final CyclicBarrier BOTH = new CyclicBarrier(2);

    @RepeatedTest(2)
    void testsDoNotSeeEachOther(Database database, RepetitionInfo repetition) throws Exception {
        try (Hector hector = new Hector(database)) {
            Blog blog = new Blog(hector.keyspace());
            String title = "Title " + repetition.getCurrentRepetition();
            BOTH.await(30, TimeUnit.SECONDS);
            blog.publish(new Post("post", title, Collections.singletonList("life"), 1_000));
            BOTH.await(30, TimeUnit.SECONDS);
            assertEquals(title, blog.title("post"));
            assertEquals(Collections.singletonList("post"), blog.tagged("life"));
        }
    }
}
