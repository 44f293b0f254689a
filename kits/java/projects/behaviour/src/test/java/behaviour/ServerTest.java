package behaviour;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.thriftstore.testing.Sandbox;
import dev.thriftstore.testing.Server;
import dev.thriftstore.testing.ServerOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The process of the server, without an extension. */
class ServerTest {
    private static final String TABLE = "CREATE KEYSPACE k WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 1};"
            + " CREATE TABLE k.t (id int PRIMARY KEY, v text); INSERT INTO k.t (id, v) VALUES (1, 'here');";

    private static boolean accepts(InetSocketAddress address) {
        try (Socket socket = new Socket()) {
            socket.connect(address, 1_000);
            return true;
        } catch (IOException refused) {
            return false;
        }
    }

    private static void assertStops(InetSocketAddress address) throws InterruptedException {
        for (int tries = 0; tries < 100 && accepts(address); tries++) {
            Thread.sleep(50);
        }
        assertFalse(accepts(address));
    }

    @Test
    void stopsWhenClosed() throws InterruptedException {
        Server server = Server.start();
        assertTrue(server.isRunning());
        assertTrue(accepts(server.thrift()) && accepts(server.nativeProtocol()) && accepts(server.controlPort()));
        server.close();
        assertFalse(server.isRunning());
        assertStops(server.controlPort());
    }

    @Test
    void isSharedByTestsWithTheSameOptions() {
        Server server = Server.shared(ServerOptions.defaults().compat("1.2"));
        assertSame(server, Server.shared(ServerOptions.defaults().compat("1.2")));
        server.close();
        Server next = Server.shared(ServerOptions.defaults().compat("1.2"));
        assertTrue(next.isRunning());
        next.close();
    }

    @Test
    void failsWithTheLogIfTheProgramEnds(@TempDir Path folder) {
        Path missing = folder.resolve("missing.xml");
        UncheckedIOException error = assertThrows(
                UncheckedIOException.class,
                () -> Server.start(ServerOptions.defaults().config(missing)));
        assertTrue(error.getMessage().startsWith("the program has ended: "), error.getMessage());
        assertTrue(error.getMessage().split("\n", 2)[1].contains("missing.xml"), error.getMessage());
    }

    /** Starts a server and waits: the other JVM of {@link #stopsWhenItsJvmIsKilled}. */
    public static void main(String[] arguments) throws InterruptedException {
        Server server = Server.start();
        System.out.println(server.controlPort().getPort());
        Thread.sleep(60_000);
    }

    @Test
    void stopsWhenItsJvmIsKilled() throws IOException, InterruptedException {
        String java = Paths.get(System.getProperty("java.home"), "bin", "java").toString();
        Process other = new ProcessBuilder(
                        Arrays.asList(java, "-cp", System.getProperty("java.class.path"), ServerTest.class.getName()))
                .redirectErrorStream(true)
                .start();
        BufferedReader output = new BufferedReader(new InputStreamReader(other.getInputStream()));
        InetSocketAddress address = new InetSocketAddress("127.0.0.1", Integer.parseInt(output.readLine()));
        assertTrue(accepts(address));
        // This is SIGKILL, after which no shutdown hook runs.
        other.destroyForcibly().waitFor();
        assertStops(address);
    }

    @Test
    void sandboxesAreSeparate() throws InterruptedException {
        try (Server server = Server.start()) {
            server.loadCql(TABLE);
            server.snapshot("loaded");
            InetSocketAddress closed;
            try (Sandbox empty = server.sandbox();
                    Sandbox loaded = server.sandboxFrom("loaded", "loaded")) {
                assertFalse(empty.dump().contains("here"), empty.dump());
                assertTrue(loaded.dump().contains("here"), loaded.dump());
                loaded.resetData();
                assertTrue(server.dump().contains("here"), server.dump());
                assertTrue(accepts(loaded.thrift()) && accepts(loaded.nativeProtocol()));
                empty.clock().freeze();
                assertFalse(loaded.clock().isFrozen());
                assertEquals(2, server.sandboxes().size());
                closed = loaded.thrift();
            }
            assertEquals(0, server.sandboxes().size());
            assertStops(closed);
        }
    }
}
