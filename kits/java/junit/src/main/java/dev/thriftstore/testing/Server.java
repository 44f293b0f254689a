package dev.thriftstore.testing;

import com.eclipsesource.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A running server whose data is in memory. {@link #close} stops it. It stops as well when the JVM ends, even if the
 * JVM is killed.
 */
public final class Server extends Database implements AutoCloseable {
    private static final Map<ServerOptions, Server> SHARED = new ConcurrentHashMap<>();

    private final ServerProcess process;
    private final AtomicLong sandboxes = new AtomicLong();

    private Server(ServerProcess process) {
        super(
                new Control(
                        process.control().getHostString() + ":"
                                + process.control().getPort(),
                        ""),
                process.thrift(),
                process.nativeProtocol());
        this.process = process;
    }

    /** Starts a server with the default options. */
    public static Server start() {
        return start(ServerOptions.defaults());
    }

    /**
     * Starts a server, and waits until it accepts connections.
     *
     * @throws UncheckedIOException if there is no program, or if it is not ready in 10 seconds
     */
    public static Server start(ServerOptions options) {
        try {
            return new Server(ServerProcess.start(options));
        } catch (IOException error) {
            throw new UncheckedIOException(error.getMessage(), error);
        }
    }

    /** Returns the server that all tests of this JVM with these options share. Starts it if none is running. */
    public static Server shared(ServerOptions options) {
        return SHARED.compute(
                options, (same, server) -> server != null && server.isRunning() ? server : start(options));
    }

    /** Returns the address of the control port. */
    public InetSocketAddress controlPort() {
        return process.control();
    }

    /** Returns whether the process is running. */
    public boolean isRunning() {
        return process.isAlive();
    }

    /** Returns the last lines of the log. */
    public List<String> log() {
        return process.log().since(0);
    }

    ServerLog serverLog() {
        return process.log();
    }

    /** Creates a sandbox: a further, isolated database in the state of this server's start. */
    public Sandbox sandbox() {
        return sandbox("sandbox-" + sandboxes.incrementAndGet());
    }

    /** Creates a sandbox of this name. */
    public Sandbox sandbox(String name) {
        return sandbox(name, new JsonObject());
    }

    /** Creates a sandbox in the state of a snapshot of this server. */
    public Sandbox sandboxFrom(String name, String snapshot) {
        return sandbox(name, new JsonObject().set("from", snapshot));
    }

    private Sandbox sandbox(String name, JsonObject body) {
        JsonObject reply = control.put("/sandboxes/" + Control.checked(name), body.toString());
        return new Sandbox(
                control,
                name,
                ServerProcess.address(reply.getString("thrift", "")),
                ServerProcess.address(reply.getString("native", "")));
    }

    /** Returns the names of the sandboxes. */
    public List<String> sandboxes() {
        List<String> names = new ArrayList<>();
        for (JsonObject sandbox : objects(control.get("/sandboxes"), "sandboxes")) {
            names.add(sandbox.getString("name", ""));
        }
        return names;
    }

    /** Stops the server. */
    @Override
    public void close() {
        process.stop();
    }
}
