package dev.thriftstore.testing;

import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The database of one test, from its start to its end. */
final class TestDatabase implements AutoCloseable {
    private static final int REQUESTS_OF_REPORT = 20;
    // The tests that use the server itself, by server.
    private static final Map<Server, String> RUNNING = new ConcurrentHashMap<>();

    private final Server server;
    private final Database database;
    private final String test;
    private final long logLines;

    private TestDatabase(Server server, Database database, String test) {
        this.server = server;
        this.database = database;
        this.test = test;
        this.logLines = server.serverLog().count();
    }

    /** Returns a sandbox for the test. */
    static TestDatabase sandbox(ServerOptions options, String test) {
        Server server = Server.shared(options);
        return new TestDatabase(server, server.sandbox(), test);
    }

    /** Returns the server for the test, in the state of its start, with the system's time. */
    static TestDatabase server(ServerOptions options, String test) {
        Server server = Server.shared(options);
        String other = RUNNING.putIfAbsent(server, test);
        if (other != null) {
            throw new IllegalStateException(test + " and " + other + " use the same server at the same time: use a"
                    + " sandbox for each test, or do not run them in parallel");
        }
        TestDatabase database = new TestDatabase(server, server, test);
        try {
            server.reset();
            server.clock().follow();
        } catch (RuntimeException error) {
            database.close();
            throw error;
        }
        return database;
    }

    Server server() {
        return server;
    }

    Database database() {
        return database;
    }

    /** Prints what the server did during the test. */
    void report(PrintStream output) {
        StringBuilder text = new StringBuilder("== thriftstore during " + test + "\n");
        List<String> lines = server.serverLog().since(logLines);
        append(text, "log", lines.isEmpty() ? "no lines" : String.join("\n", lines));
        append(text, "last requests", requests());
        output.print(text);
    }

    private String requests() {
        try {
            StringBuilder lines = new StringBuilder();
            for (RecordedRequest request : database.requests(Condition.requests(), REQUESTS_OF_REPORT)) {
                lines.append(request).append('\n');
            }
            return lines.length() == 0 ? "none" : lines.toString().trim();
        } catch (ControlException error) {
            return error.getMessage();
        }
    }

    private static void append(StringBuilder text, String title, String lines) {
        text.append("-- ").append(title).append('\n').append(lines).append('\n');
    }

    @Override
    public void close() {
        if (database instanceof Sandbox) {
            ((Sandbox) database).close();
        } else {
            RUNNING.remove(server, test);
        }
    }
}
