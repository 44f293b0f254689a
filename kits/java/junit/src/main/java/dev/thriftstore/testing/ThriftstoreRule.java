package dev.thriftstore.testing;

import org.junit.internal.AssumptionViolatedException;
import org.junit.rules.TestRule;
import org.junit.runner.Description;
import org.junit.runners.model.Statement;

/**
 * A JUnit 4 rule that gives each test a database in the state of the server's start. All rules with the same options
 * share one server.
 *
 * <pre>@Rule public final ThriftstoreRule thriftstore = new ThriftstoreRule();</pre>
 */
public final class ThriftstoreRule implements TestRule {
    private final ServerOptions options;
    private final boolean isSandbox;
    private TestDatabase database;

    /** Uses a server with the default options. */
    public ThriftstoreRule() {
        this(ServerOptions.defaults());
    }

    /** Uses a server with these options. */
    public ThriftstoreRule(ServerOptions options) {
        this(options, false);
    }

    private ThriftstoreRule(ServerOptions options, boolean isSandbox) {
        this.options = options;
        this.isSandbox = isSandbox;
    }

    /** Returns a rule that gives each test a sandbox of its own, for tests that run in parallel. */
    public ThriftstoreRule inSandboxes() {
        return new ThriftstoreRule(options, true);
    }

    /** Returns the database of the running test. */
    public Database database() {
        return current().database();
    }

    /** Returns the server. */
    public Server server() {
        return current().server();
    }

    private TestDatabase current() {
        if (database == null) {
            throw new IllegalStateException("no test is running: is the rule a public field with @Rule?");
        }
        return database;
    }

    /** Returns the test with its database around it. */
    @Override
    public Statement apply(Statement test, Description description) {
        return new Statement() {
            @Override
            public void evaluate() throws Throwable {
                run(test, description.getDisplayName());
            }
        };
    }

    private void run(Statement test, String name) throws Throwable {
        try (TestDatabase prepared =
                isSandbox ? TestDatabase.sandbox(options, name) : TestDatabase.server(options, name)) {
            database = prepared;
            try {
                test.evaluate();
            } catch (AssumptionViolatedException skipped) {
                throw skipped;
            } catch (Throwable failure) {
                prepared.report(System.err);
                throw failure;
            } finally {
                database = null;
            }
        }
    }
}
