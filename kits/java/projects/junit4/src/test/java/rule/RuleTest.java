package rule;

import static dev.thriftstore.testing.Condition.requests;
import static dev.thriftstore.testing.Expectation.none;
import static dev.thriftstore.testing.Expectation.some;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.thriftstore.testing.Database;
import dev.thriftstore.testing.Sandbox;
import dev.thriftstore.testing.ServerOptions;
import dev.thriftstore.testing.ThriftstoreRule;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Paths;
import org.junit.Assert;
import org.junit.Assume;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.JUnitCore;
import org.junit.runner.Result;

public class RuleTest {
    private static final ServerOptions OPTIONS =
            ServerOptions.defaults().compat("1.2").load(Paths.get("src/test/resources/shop.cql"));

    @Rule
    public final ThriftstoreRule thriftstore = new ThriftstoreRule(OPTIONS);

    private void changesTea() {
        Database database = thriftstore.database();
        assertTrue(database.dump().contains("tea"));
        database.loadCql("UPDATE shop.carts SET items = 'coffee' WHERE id = 1;");
        assertFalse(database.dump().contains("tea"));
    }

    @Test
    public void startsWithLoadedRows() {
        changesTea();
    }

    @Test
    public void startsWithLoadedRowsAfterAnotherTestToo() {
        changesTea();
    }

    @Test
    public void requestsAreVerified() {
        thriftstore.database().verify(none(requests()));
        AssertionError error = assertThrows(
                AssertionError.class,
                () -> thriftstore.database().verifyInOrder(some(requests().method("insert"))));
        assertEquals("the requests are not as expected: expectation 1: no request", error.getMessage());
        assertEquals(0, thriftstore.database().requests().size());
    }

    public static class InSandboxes {
        @Rule
        public final ThriftstoreRule thriftstore = new ThriftstoreRule(OPTIONS).inSandboxes();

        @Test
        public void hasPortsOfItsOwn() {
            assertTrue(thriftstore.database() instanceof Sandbox);
            assertNotEquals(
                    thriftstore.server().thrift(), thriftstore.database().thrift());
            assertTrue(thriftstore.database().dump().contains("tea"));
        }
    }

    public static class Failing {
        @Rule
        public final ThriftstoreRule thriftstore = new ThriftstoreRule().inSandboxes();

        @Test
        public void fails() {
            Assert.fail("on purpose");
        }
    }

    public static class Skipped {
        @Rule
        public final ThriftstoreRule thriftstore = new ThriftstoreRule().inSandboxes();

        @Test
        public void isSkipped() {
            Assume.assumeTrue("on purpose", false);
        }
    }

    private static Result run(Class<?> tests, ByteArrayOutputStream errors) {
        PrintStream before = System.err;
        System.setErr(new PrintStream(errors, true));
        try {
            return JUnitCore.runClasses(tests);
        } finally {
            System.setErr(before);
        }
    }

    @Test
    public void sandboxesAreMade() {
        assertTrue(run(InSandboxes.class, new ByteArrayOutputStream()).wasSuccessful());
        assertEquals(0, thriftstore.server().sandboxes().size());
    }

    @Test
    public void failuresPrintTheLastRequests() {
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        assertEquals(1, run(Failing.class, errors).getFailureCount());
        assertTrue(errors.toString(), errors.toString().contains("== thriftstore during fails("));
        assertTrue(errors.toString(), errors.toString().contains("-- last requests"));
    }

    @Test
    public void skippedTestsPrintNothing() {
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        assertTrue(run(Skipped.class, errors).wasSuccessful());
        assertEquals("", errors.toString());
    }
}
