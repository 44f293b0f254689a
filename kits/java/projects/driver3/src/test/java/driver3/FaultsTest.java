package driver3;

import static dev.thriftstore.testing.Condition.requests;
import static dev.thriftstore.testing.Rule.when;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.driver.core.Cluster;
import com.datastax.driver.core.HostDistance;
import com.datastax.driver.core.PoolingOptions;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SocketOptions;
import com.datastax.driver.core.exceptions.DriverException;
import com.datastax.driver.core.policies.ConstantReconnectionPolicy;
import com.datastax.driver.core.policies.FallthroughRetryPolicy;
import dev.thriftstore.testing.Condition;
import dev.thriftstore.testing.Database;
import dev.thriftstore.testing.Fault;
import dev.thriftstore.testing.FaultError;
import dev.thriftstore.testing.FaultReply;
import dev.thriftstore.testing.Operation;
import dev.thriftstore.testing.RefusedConnections;
import dev.thriftstore.testing.Thriftstore;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What version 3 of the DataStax driver reports for each fault, if it does not retry. The driver closes the connection
 * after a ServerError and connects again later.
 */
@Thriftstore(load = "src/test/resources/shop.cql")
class FaultsTest {
    private static final String INSERT = "INSERT INTO shop.carts (id, items) VALUES (2, 'milk')";
    private static final String SELECT = "SELECT items FROM shop.carts WHERE id = 2";
    // The driver reads tables of the keyspace "system", too.
    private static final Condition WRITES = requests().columnFamily("carts").operation(Operation.WRITE);
    private static final Condition READS = requests().columnFamily("carts").operation(Operation.READ);

    private Cluster cluster;
    private Session session;

    @BeforeEach
    void connect(Database database) {
        cluster = open(database);
        session = cluster.connect();
    }

    /** Opens one connection for statements. The driver waits at most half a second for a reply. */
    private static Cluster open(Database database) {
        PoolingOptions pool = new PoolingOptions()
                .setConnectionsPerHost(HostDistance.LOCAL, 1, 1)
                .setPoolTimeoutMillis(20);
        return Cluster.builder()
                .addContactPointsWithPorts(database.nativeProtocol())
                .withoutJMXReporting()
                .withoutMetrics()
                .withRetryPolicy(FallthroughRetryPolicy.INSTANCE)
                .withReconnectionPolicy(new ConstantReconnectionPolicy(50))
                .withPoolingOptions(pool)
                .withSocketOptions(new SocketOptions().setReadTimeoutMillis(500))
                .build();
    }

    @AfterEach
    void disconnect() {
        // close() waits two seconds for threads that have nothing to do.
        cluster.closeAsync();
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
        return reported(() -> session.execute(INSERT));
    }

    private String read() {
        return reported(() -> session.execute(SELECT));
    }

    /** Returns what is stored, as soon as the driver is connected again; at most after ten seconds. */
    private String stored() throws InterruptedException {
        for (int tries = 1; ; tries++) {
            try {
                Row row = session.execute(SELECT).one();
                return row == null ? null : row.getString("items");
            } catch (DriverException error) {
                if (tries == 200) {
                    throw error;
                }
                Thread.sleep(50);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "UNAVAILABLE, UnavailableException",
        "TIMED_OUT, WriteTimeoutException",
        "INVALID_REQUEST, InvalidQueryException",
        "NOT_FOUND, ServerError",
        "SCHEMA_DISAGREEMENT, ServerError",
        "AUTHENTICATION, AuthenticationException",
        "AUTHORIZATION, UnauthorizedException",
        "OVERLOADED, OverloadedException",
        "INTERNAL, ServerError",
    })
    void errorsOfWrites(FaultError error, String expected, Database database) throws InterruptedException {
        try (Fault fault = database.fault(when(WRITES).error(error))) {
            assertEquals(expected, write());
            assertEquals(1, fault.hits());
        }
        assertEquals(null, stored());
        try (Fault fault = database.fault(when(WRITES).error(error).applied())) {
            assertEquals(expected, write());
        }
        assertEquals("milk", stored());
    }

    @ParameterizedTest
    @CsvSource({
        "UNAVAILABLE, UnavailableException",
        "TIMED_OUT, ReadTimeoutException",
        "INVALID_REQUEST, InvalidQueryException",
        "NOT_FOUND, ServerError",
        "SCHEMA_DISAGREEMENT, ServerError",
        "AUTHENTICATION, AuthenticationException",
        "AUTHORIZATION, UnauthorizedException",
        "OVERLOADED, OverloadedException",
        "INTERNAL, ServerError",
    })
    void errorsOfReads(FaultError error, String expected, Database database) {
        try (Fault fault = database.fault(when(READS).error(error))) {
            assertEquals(expected, read());
            assertEquals(1, fault.hits());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "NONE, OperationTimedOutException",
        "CLOSED, TransportException",
        "HALF, TransportException",
        "CLOSED_AFTER, nothing",
        "RUBBISH, TransportException",
        // The driver ignores a reply to no request.
        "TWICE, nothing",
        "TRICKLE, nothing",
    })
    void repliesToWrites(FaultReply reply, String expected, Database database) throws InterruptedException {
        try (Fault fault = database.fault(when(WRITES).reply(reply))) {
            assertEquals(expected, write());
            assertEquals(1, fault.hits());
        }
        assertEquals("milk", stored());
    }

    @Test
    void longReplyTrickles(Database database) throws InterruptedException {
        write();
        try (Fault slow = database.fault(when(READS).reply(FaultReply.TRICKLE))) {
            // The reply has more than the 50 bytes that arrive in half a second.
            assertEquals("OperationTimedOutException", read());
        }
        assertEquals("milk", stored());
    }

    @Test
    void repliesAreDelayed(Database database) throws InterruptedException {
        try (Fault slow = database.fault(when(READS).delay(Duration.ofMillis(100)))) {
            long start = System.nanoTime();
            assertEquals("nothing", read());
            assertTrue(System.nanoTime() - start >= Duration.ofMillis(100).toNanos());
        }
        // This is longer than the driver waits.
        try (Fault slower = database.fault(when(READS).delay(Duration.ofSeconds(2)))) {
            assertEquals("OperationTimedOutException", read());
        }
        assertEquals(null, stored());
    }

    @Test
    void driverConnectsAgainAfterARestart(Database database) throws InterruptedException {
        write();
        database.restart();
        // There is no error if the driver has connected again meanwhile.
        String first = read();
        assertTrue(Arrays.asList("TransportException", "NoHostAvailableException", "nothing").contains(first), first);
        assertEquals("milk", stored());
    }

    @Test
    void newConnectionsAreRefused(Database database) {
        try (RefusedConnections refused = database.refuseConnections()) {
            assertEquals("nothing", write());
            Cluster other = open(database);
            assertEquals("NoHostAvailableException", reported(other::connect));
            other.closeAsync();
        }
    }
}
