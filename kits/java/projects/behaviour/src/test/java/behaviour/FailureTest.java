package behaviour;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder.request;

import dev.thriftstore.testing.Database;
import dev.thriftstore.testing.Server;
import dev.thriftstore.testing.Thriftstore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** What is printed when a test fails. */
class FailureTest {
    /** Calls {@code describe_version}, with the binary protocol in a frame. */
    private static void describeVersion(Database database) throws IOException {
        byte[] name = "describe_version".getBytes(StandardCharsets.US_ASCII);
        ByteBuffer call = ByteBuffer.allocate(4 + 4 + 4 + name.length + 4 + 1);
        call.putInt(call.capacity() - 4)
                .putInt(0x80010001)
                .putInt(name.length)
                .put(name)
                .putInt(1)
                .put((byte) 0);
        try (Socket socket =
                new Socket(database.thrift().getAddress(), database.thrift().getPort())) {
            socket.getOutputStream().write(call.array());
            assertTrue(socket.getInputStream().read() >= 0);
        }
    }

    @Thriftstore
    static class Failing {
        @Test
        void fails(Database database) throws IOException {
            describeVersion(database);
            Assertions.fail("on purpose");
        }
    }

    @Thriftstore(sandbox = true)
    static class FailingInSandbox {
        @Test
        void fails(Database database) throws IOException {
            describeVersion(database);
            Assertions.fail("on purpose");
        }
    }

    @Thriftstore
    static class Aborted {
        @Test
        void isAborted(Database database) throws IOException {
            describeVersion(database);
            Assumptions.abort("on purpose");
        }
    }

    @Thriftstore
    static class UsesServerTwice {
        @Test
        void uses(Server server) {
            assertEquals(1, run(Passing.class, new ByteArrayOutputStream()).getTestsFailedCount());
        }
    }

    @Thriftstore
    static class Passing {
        @Test
        void passes(Database database) throws IOException {
            describeVersion(database);
        }
    }

    private static TestExecutionSummary run(Class<?> tests, ByteArrayOutputStream errors) {
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        PrintStream before = System.err;
        System.setErr(new PrintStream(errors, true));
        try {
            LauncherFactory.create()
                    .execute(request().selectors(selectClass(tests)).build(), listener);
        } finally {
            System.setErr(before);
        }
        return listener.getSummary();
    }

    @Test
    void lastRequestsArePrinted() {
        for (Class<?> tests : new Class<?>[] {Failing.class, FailingInSandbox.class}) {
            ByteArrayOutputStream errors = new ByteArrayOutputStream();
            assertEquals(1, run(tests, errors).getTestsFailedCount());
            assertTrue(
                    errors.toString().contains("== thriftstore during " + tests.getSimpleName() + ": fails"),
                    errors::toString);
            assertTrue(errors.toString().contains("-- log\n"), errors::toString);
            assertTrue(errors.toString().contains(" thrift describe_version "), errors::toString);
        }
    }

    @Test
    void nothingIsPrintedForOtherTests() {
        for (Class<?> tests : new Class<?>[] {Passing.class, Aborted.class}) {
            ByteArrayOutputStream errors = new ByteArrayOutputStream();
            assertEquals(0, run(tests, errors).getTestsFailedCount());
            assertFalse(errors.toString().contains("thriftstore"), errors::toString);
        }
    }

    @Test
    void twoTestsCannotUseTheSameServer() {
        assertEquals(1, run(UsesServerTwice.class, new ByteArrayOutputStream()).getTestsSucceededCount());
    }
}
