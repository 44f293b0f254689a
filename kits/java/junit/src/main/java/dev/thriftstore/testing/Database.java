package dev.thriftstore.testing;

import com.eclipsesource.json.JsonArray;
import com.eclipsesource.json.JsonObject;
import com.eclipsesource.json.JsonValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** A database for tests, with its own ports, clock, faults and requests: that of a {@link Server} or a sandbox. */
public abstract class Database {
    private static final AtomicLong FAULTS = new AtomicLong();
    private static final int NOT_FOUND = 404;

    final Control control;
    private final InetSocketAddress thrift;
    private final InetSocketAddress nativeProtocol;
    private final Clock clock;

    Database(Control control, InetSocketAddress thrift, InetSocketAddress nativeProtocol) {
        this.control = control;
        this.thrift = thrift;
        this.nativeProtocol = nativeProtocol;
        this.clock = new Clock(control);
    }

    /** Returns the address for Thrift clients. */
    public final InetSocketAddress thrift() {
        return thrift;
    }

    /** Returns the address for Thrift clients as {@code 127.0.0.1:40813}. */
    public final String thriftAddress() {
        return thrift.getHostString() + ":" + thrift.getPort();
    }

    /** Returns the address for clients of the native protocol. */
    public final InetSocketAddress nativeProtocol() {
        return nativeProtocol;
    }

    /** Returns the clock. */
    public final Clock clock() {
        return clock;
    }

    /** Returns to the state at the start: rows, schema and users. Removes faults and forgets requests. */
    public final void reset() {
        reset("everything");
    }

    /** Removes all rows. Schema and users stay. */
    public final void resetData() {
        reset("data");
    }

    /** Removes all faults, forgets the requests, and accepts connections again. */
    public final void resetFaults() {
        reset("faults");
    }

    private void reset(String what) {
        control.post("/reset", new JsonObject().set("what", what));
    }

    /** Takes a snapshot of rows, schema and users. Replaces one of this name. */
    public final void snapshot(String name) {
        control.put("/snapshots/" + Control.checked(name));
    }

    /** Returns to a snapshot. */
    public final void restore(String name) {
        control.post("/snapshots/" + Control.checked(name) + "/restore");
    }

    /** Deletes a snapshot. */
    public final void deleteSnapshot(String name) {
        control.delete("/snapshots/" + Control.checked(name));
    }

    /** Returns the names of the snapshots. */
    public final List<String> snapshots() {
        List<String> names = new ArrayList<>();
        for (JsonObject snapshot : objects(control.get("/snapshots"), "snapshots")) {
            names.add(snapshot.getString("name", ""));
        }
        return names;
    }

    /** Runs CQL statements, one after another. */
    public final void loadCql(String statements) {
        control.post("/load", "text/x-cql", statements);
    }

    /** Writes rows, which are JSON in the form of {@link #dump}. */
    public final void loadJson(String rows) {
        control.post("/load", "application/json", rows);
    }

    /** Runs a script of cassandra-cli. */
    public final void loadCassandraCli(String script) {
        control.post("/load", "text/x-cassandra-cli", script);
    }

    /**
     * Loads a file: CQL if its name ends with {@code .cql}, a script of cassandra-cli if it ends with {@code .cli}, rows if
     * it ends with {@code .json}.
     */
    public final void load(Path file) {
        String name = file.getFileName().toString();
        if (!name.endsWith(".cql") && !name.endsWith(".cli") && !name.endsWith(".json")) {
            throw new IllegalArgumentException(
                    "cannot load " + file + ": its name must end with .cql, .cli or .json");
        }
        try {
            String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
            if (name.endsWith(".json")) {
                loadJson(text);
            } else if (name.endsWith(".cli")) {
                loadCassandraCli(text);
            } else {
                loadCql(text);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Returns all rows as JSON. */
    public final String dump() {
        return control.text("/dump");
    }

    /** Sets a rule of faults, which is removed when the result is closed. */
    public final Fault fault(Rule rule) {
        return fault("fault-" + FAULTS.incrementAndGet(), rule);
    }

    /** Sets a rule of faults under a name. Replaces one of this name. */
    public final Fault fault(String name, Rule rule) {
        control.put("/faults/" + Control.checked(name), rule.toString());
        return new Fault(this, name);
    }

    /** Returns the rules that are set. */
    public final List<Fault> faults() {
        List<Fault> faults = new ArrayList<>();
        for (JsonObject state : faultStates()) {
            faults.add(new Fault(this, state.getString("name", "")));
        }
        return faults;
    }

    final List<JsonObject> faultStates() {
        return objects(control.get("/faults"), "faults");
    }

    final void removeFault(String name) {
        try {
            control.delete("/faults/" + name);
        } catch (ControlException error) {
            if (error.status() != NOT_FOUND) {
                throw error;
            }
        }
    }

    /** Closes new connections of clients at once, until the result is closed. Open connections stay open. */
    public final RefusedConnections refuseConnections() {
        control.post("/connections", new JsonObject().set("refuse", true));
        return new RefusedConnections(this);
    }

    /** Accepts connections again. */
    public final void acceptConnections() {
        control.post("/connections", new JsonObject().set("refuse", false));
    }

    /** Closes all connections of clients and forgets prepared statements, as a restart does. */
    public final void restart() {
        control.post("/restart");
    }

    /** Returns the last 100 requests of clients, oldest first. */
    public final List<RecordedRequest> requests() {
        return requests(control.get("/requests"));
    }

    /** Returns the last requests that meet the condition, oldest first: at most {@code last} of them. */
    public final List<RecordedRequest> requests(Condition condition, int last) {
        JsonObject search = new JsonObject().set("when", condition.json()).set("last", last);
        return requests(control.post("/requests/find", search));
    }

    private static List<RecordedRequest> requests(JsonObject reply) {
        List<RecordedRequest> requests = new ArrayList<>();
        for (JsonObject request : objects(reply, "requests")) {
            requests.add(new RecordedRequest(request));
        }
        return requests;
    }

    /**
     * Compares the requests with what is expected.
     *
     * @throws AssertionError if there are differences
     */
    public final void verify(Expectation... expected) {
        verify(Arrays.asList(expected), false);
    }

    /**
     * Compares the requests and the order of the first request that meets each condition.
     *
     * @throws AssertionError if there are differences
     */
    public final void verifyInOrder(Expectation... expected) {
        verify(Arrays.asList(expected), true);
    }

    private void verify(List<Expectation> expected, boolean inOrder) {
        JsonArray expectations = new JsonArray();
        for (Expectation expectation : expected) {
            expectations.add(expectation.json());
        }
        JsonObject reply = control.post(
                "/requests/verify",
                new JsonObject().set("requests", expectations).set("in_order", inOrder));
        if (!reply.getBoolean("verified", false)) {
            List<String> differences = new ArrayList<>();
            for (JsonValue difference : reply.get("differences").asArray()) {
                differences.add(difference.asString());
            }
            throw new AssertionError("the requests are not as expected: " + String.join("; ", differences));
        }
    }

    static List<JsonObject> objects(JsonObject reply, String field) {
        List<JsonObject> objects = new ArrayList<>();
        for (JsonValue value : reply.get(field).asArray()) {
            objects.add(value.asObject());
        }
        return objects;
    }
}
