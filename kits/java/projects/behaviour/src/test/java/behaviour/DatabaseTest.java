package behaviour;

import static dev.thriftstore.testing.Condition.requests;
import static dev.thriftstore.testing.Rule.when;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.thriftstore.testing.ControlException;
import dev.thriftstore.testing.Database;
import dev.thriftstore.testing.Fault;
import dev.thriftstore.testing.FaultError;
import dev.thriftstore.testing.FaultReply;
import dev.thriftstore.testing.Operation;
import dev.thriftstore.testing.RefusedConnections;
import dev.thriftstore.testing.Thriftstore;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a database of a test can do, seen through the control port. */
@Thriftstore(load = "src/test/resources/shop.cql")
class DatabaseTest {
    private static final String CHANGE = "UPDATE shop.carts SET items = 'coffee' WHERE id = 1;";

    @Test
    void startsWithLoadedRows(Database database) {
        assertTrue(database.dump().contains("tea"), database.dump());
    }

    @Test
    void startsWithLoadedRowsAfterAnotherTestToo(Database database) {
        database.loadCql("DROP TABLE shop.carts;");
        assertFalse(database.dump().contains("tea"), database.dump());
        database.reset();
        assertTrue(database.dump().contains("tea"), database.dump());
        database.resetData();
        database.loadCql(CHANGE);
        assertFalse(database.dump().contains("tea"), database.dump());
    }

    @Test
    void snapshotsAreRestored(Database database) {
        database.snapshot("tea");
        database.loadCql(CHANGE);
        database.restore("tea");
        assertTrue(database.dump().contains("tea"), database.dump());
        assertEquals(Collections.singletonList("tea"), database.snapshots());
        database.deleteSnapshot("tea");
        assertEquals(Collections.emptyList(), database.snapshots());
    }

    @Test
    void dumpsAreLoadedAgain(Database database, @TempDir Path folder) throws IOException {
        String dump = database.dump();
        database.resetData();
        database.loadJson(dump);
        assertEquals(dump, database.dump());
        Path file = folder.resolve("rows.json");
        Files.write(file, dump.getBytes(StandardCharsets.UTF_8));
        database.resetData();
        database.load(file);
        assertEquals(dump, database.dump());
        database.reset();
        database.loadCql("DROP KEYSPACE shop;");
        database.load(Paths.get("src/test/resources/shop.cql"));
        assertTrue(database.dump().contains("tea"), database.dump());
        assertThrows(IllegalArgumentException.class, () -> database.load(Paths.get("shop.txt")));
    }

    @Test
    void errorsHaveTheSentenceOfTheServer(Database database) {
        ControlException error = assertThrows(ControlException.class, () -> database.restore("nothing"));
        assertEquals(404, error.status());
        assertTrue(error.getMessage().contains("nothing"), error.getMessage());
        assertThrows(IllegalArgumentException.class, () -> database.snapshot("no/name"));
    }

    @Test
    void clockIsMoved(Database database) {
        Instant start = Instant.parse("2012-01-01T00:00:00Z");
        database.clock().freezeAt(start);
        assertTrue(database.clock().isFrozen());
        assertEquals(start, database.clock().now());
        database.clock().advance(Duration.ofDays(1));
        assertEquals(start.plus(Duration.ofDays(1)), database.clock().now());
        database.clock().advance(Duration.ofDays(-1));
        database.clock().unfreeze();
        assertFalse(database.clock().isFrozen());
        assertTrue(database.clock().now().isBefore(start.plusSeconds(60)));
        database.clock().follow();
        assertTrue(database.clock().now().isAfter(Instant.now().minusSeconds(60)));
    }

    @Test
    void clockFollowsTheSystemAtTheStartOfATest(Database database) {
        assertTrue(database.clock().now().isAfter(Instant.now().minusSeconds(60)));
        assertFalse(database.clock().isFrozen());
        database.clock().freezeAt(Instant.EPOCH);
    }

    @Test
    void clockFollowsTheSystemAtTheStartOfAnotherTest(Database database) {
        clockFollowsTheSystemAtTheStartOfATest(database);
    }

    @Test
    void rulesHaveAllFields(Database database) {
        Fault fault = database.fault(
                "all",
                when(requests()
                                .thrift()
                                .method("insert")
                                .operation(Operation.WRITE)
                                .keyspace("BloggyAppy")
                                .columnFamily("Authors")
                                .key("ada")
                                .consistency("ONE"))
                        .error(FaultError.TIMED_OUT)
                        .text("lost")
                        .applied()
                        .delay(Duration.ofMillis(5), Duration.ofMillis(10))
                        .skip(1)
                        .times(2)
                        .probability(0.5, 7));
        assertEquals("all", fault.name());
        assertEquals(0, fault.met() + fault.hits());
        database.fault(when(requests().nativeProtocol().statement("SELECT"))
                .reply(FaultReply.HALF)
                .delay(Duration.ofMillis(5)));
        assertEquals(2, database.faults().size());
    }

    @Test
    void faultsEndWithTheirScope(Database database) {
        try (Fault scoped = database.fault(when(requests()).error(FaultError.INTERNAL))) {
            assertEquals(1, database.faults().size());
            scoped.close();
            assertThrows(IllegalStateException.class, scoped::hits);
        }
        assertEquals(0, database.faults().size());
        database.fault(when(requests()).error(FaultError.INTERNAL));
        database.resetFaults();
        assertEquals(0, database.faults().size());
    }

    @Test
    void connectionsAreRefusedAndClosed(Database database) throws IOException {
        try (Socket open =
                new Socket(database.thrift().getAddress(), database.thrift().getPort())) {
            open.setSoTimeout(5_000);
            try (RefusedConnections refused = database.refuseConnections();
                    Socket other = new Socket(
                            database.thrift().getAddress(), database.thrift().getPort())) {
                other.setSoTimeout(5_000);
                assertEquals(-1, other.getInputStream().read());
            }
            database.restart();
            assertEquals(-1, open.getInputStream().read());
        }
    }
}
