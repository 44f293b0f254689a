package blog;

import static dev.thriftstore.testing.Condition.requests;
import static dev.thriftstore.testing.Rule.when;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.thriftstore.testing.Condition;
import dev.thriftstore.testing.Database;
import dev.thriftstore.testing.Fault;
import dev.thriftstore.testing.FaultError;
import dev.thriftstore.testing.FaultReply;
import dev.thriftstore.testing.Operation;
import dev.thriftstore.testing.RefusedConnections;
import dev.thriftstore.testing.Thriftstore;
import java.time.Duration;
import java.util.Collections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What Hector reports for each fault. Requests are not sent again (FAIL_FAST), and there is one host. Once a connection
 * to it has ended, Hector marks the host as down, and reports a HectorException for all further requests.
 */
@Thriftstore
class FaultsTest {
    private static final Condition WRITES = requests().operation(Operation.WRITE);
    private static final Condition READS = requests().operation(Operation.READ);

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

    /** Returns the name of the class of what the action throws, or "nothing". */
    private static String reported(Runnable action) {
        try {
            action.run();
            return "nothing";
        } catch (RuntimeException error) {
            return error.getClass().getSimpleName();
        }
    }

    private String write() {
        return reported(() -> blog.publish(new Post("post", "A title", Collections.emptyList(), 1_000)));
    }

    private String read() {
        return reported(() -> blog.title("post"));
    }

    /** Returns the title that is stored, over a new connection. */
    private static String stored(Database database) {
        try (Hector other = new Hector(database)) {
            return new Blog(other.keyspace()).title("post");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "UNAVAILABLE, HUnavailableException",
        "TIMED_OUT, HTimedOutException",
        "INVALID_REQUEST, HInvalidRequestException",
        "NOT_FOUND, HCassandraInternalException",
        "SCHEMA_DISAGREEMENT, HUnavailableException",
        "AUTHENTICATION, HCassandraInternalException",
        "AUTHORIZATION, HCassandraInternalException",
        "OVERLOADED, HUnavailableException",
        "INTERNAL, HCassandraInternalException",
    })
    void errorsOfWrites(FaultError error, String expected, Database database) {
        try (Fault fault = database.fault(when(WRITES).error(error))) {
            assertEquals(expected, write());
            assertEquals(null, stored(database));
            assertEquals(1, fault.hits());
        }
        try (Fault fault = database.fault(when(WRITES).error(error).applied())) {
            assertEquals(expected, write());
        }
        assertEquals("A title", stored(database));
        assertEquals("nothing", write());
    }

    @ParameterizedTest
    @CsvSource({
        "UNAVAILABLE, HUnavailableException",
        "TIMED_OUT, HTimedOutException",
        "INVALID_REQUEST, HInvalidRequestException",
        "SCHEMA_DISAGREEMENT, HUnavailableException",
        "AUTHENTICATION, HCassandraInternalException",
        "AUTHORIZATION, HCassandraInternalException",
        "OVERLOADED, HUnavailableException",
        "INTERNAL, HCassandraInternalException",
    })
    void errorsOfReads(FaultError error, String expected, Database database) {
        try (Fault fault = database.fault(when(READS).error(error))) {
            assertEquals(expected, read());
            assertEquals(1, fault.hits());
        }
        assertEquals("nothing", read());
    }

    @Test
    void columnIsNotFound(Database database) {
        write();
        assertEquals("A title", blog.title("post"));
        try (Fault missing = database.fault(when(READS).error(FaultError.NOT_FOUND))) {
            // Hector returns null for a missing column.
            assertEquals(null, blog.title("post"));
            assertEquals(1, missing.hits());
        }
    }

    /** The write, the request after it, and the one after that. */
    @ParameterizedTest
    @CsvSource({
        "NONE, HTimedOutException, nothing, nothing",
        "CLOSED, HectorTransportException, HectorException, HectorException",
        "HALF, HectorTransportException, HectorException, HectorException",
        "CLOSED_AFTER, nothing, HectorTransportException, HectorException",
        "RUBBISH, HInvalidRequestException, nothing, nothing",
        // The second reply is read as that of the next request, whose number differs.
        "TWICE, nothing, HCassandraInternalException, nothing",
        "TRICKLE, nothing, nothing, nothing",
    })
    void replies(FaultReply reply, String first, String second, String third, Database database) {
        try (Fault fault = database.fault(when(WRITES).reply(reply))) {
            assertEquals(first, write());
            assertEquals(1, fault.hits());
        }
        assertEquals(second, read());
        assertEquals(third, read());
        assertEquals("A title", stored(database));
    }

    @Test
    void repliesAreDelayed(Database database) {
        try (Fault slow = database.fault(when(READS).delay(Duration.ofMillis(100)))) {
            long start = System.nanoTime();
            assertEquals("nothing", read());
            assertTrue(System.nanoTime() - start >= Duration.ofMillis(100).toNanos());
        }
        // This is longer than Hector waits.
        try (Fault slower = database.fault(when(READS).delay(Duration.ofSeconds(2)))) {
            assertEquals("HTimedOutException", read());
        }
        assertEquals("nothing", read());
    }

    @Test
    void connectionsEndAtARestart(Database database) {
        assertEquals("nothing", read());
        database.restart();
        assertEquals("HectorTransportException", read());
        assertEquals("HectorException", read());
        try (Hector other = new Hector(database)) {
            assertEquals("nothing", reported(() -> new Blog(other.keyspace()).title("post")));
        }
    }

    @Test
    void newConnectionsAreRefused(Database database) {
        assertEquals("nothing", read());
        try (RefusedConnections refused = database.refuseConnections();
                Hector other = new Hector(database)) {
            assertEquals("nothing", read());
            assertEquals("HectorTransportException", reported(() -> new Blog(other.keyspace()).title("post")));
        }
    }
}
