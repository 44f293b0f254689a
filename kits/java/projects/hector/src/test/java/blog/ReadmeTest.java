package blog;

import static dev.thriftstore.testing.Condition.requests;
import static dev.thriftstore.testing.Expectation.some;
import static dev.thriftstore.testing.Expectation.times;
import static dev.thriftstore.testing.Rule.when;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.thriftstore.testing.Database;
import dev.thriftstore.testing.Fault;
import dev.thriftstore.testing.FaultError;
import dev.thriftstore.testing.Operation;
import dev.thriftstore.testing.RecordedRequest;
import dev.thriftstore.testing.Recorder;
import dev.thriftstore.testing.RefusedConnections;
import dev.thriftstore.testing.Replay;
import dev.thriftstore.testing.Replay.Difference;
import dev.thriftstore.testing.Server;
import dev.thriftstore.testing.ServerOptions;
import dev.thriftstore.testing.Thriftstore;
import java.net.InetSocketAddress;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The README's examples of faults, requests and recordings. */
@Thriftstore
class ReadmeTest {
    @BeforeAll
    static void record() {
        try (Server server = Server.start(ServerOptions.defaults().compat("1.2"))) {
            String cassandra = text(server.thrift());
            try (Recorder recorder = Recorder.start(Paths.get("suite.rec"), Recorder.options().thrift(cassandra))) {
                runTests(recorder.thrift());
            }
        }
    }

    private static void runTests(InetSocketAddress address) {
        try (Hector hector = new Hector(text(address))) {
            new Blog(hector.keyspace()).comment("first", "Ada", "It works.", 1_000);
        }
    }

    private static String text(InetSocketAddress address) {
        return address.getHostString() + ":" + address.getPort();
    }

    @Test
    void answersAreThoseOfCassandra() {
        Replay.of(Paths.get("suite.rec"), ServerOptions.defaults().compat("1.2")).check(Difference.DATA);
    }

    @Test
    void faultsAndRequests(Database database) {
        try (Hector hector = new Hector(database)) {
            Blog blog = new Blog(hector.keyspace());
            try (Fault lost = database.fault(
                    when(requests().operation(Operation.WRITE).columnFamily("Comments").key("first"))
                            .error(FaultError.TIMED_OUT)
                            .applied()
                            .times(1))) {
                blog.comment("first", "Ada", "It works.", 1_000);
                assertEquals(1, lost.hits());
            } // Here the rule is removed.

            assertEquals(Arrays.asList("Ada: It works."), blog.comments("first"));
            blog.title("first");

            database.verify(times(2, requests().operation(Operation.WRITE).columnFamily("Comments")));
            database.verifyInOrder(some(requests().method("batch_mutate")), some(requests().method("get_slice")));
            List<RecordedRequest> last = database.requests(); // or requests(condition, 10)

            assertTrue(last.size() >= 3, last.toString());
        }

        try (RefusedConnections refused = database.refuseConnections()) {
            // New connections are closed at once.
        }
    }
}
