package dev.thriftstore.testing;

import java.net.InetSocketAddress;

/** An isolated database in the process of a {@link Server}. {@link #close} removes it. */
public final class Sandbox extends Database implements AutoCloseable {
    private static final int NOT_FOUND = 404;

    private final Control server;
    private final String name;

    Sandbox(Control server, String name, InetSocketAddress thrift, InetSocketAddress nativeProtocol) {
        super(server.ofSandbox(name), thrift, nativeProtocol);
        this.server = server;
        this.name = name;
    }

    /** Returns the name of the sandbox. */
    public String name() {
        return name;
    }

    /** Closes the connections of the sandbox and removes its data. Does nothing if it was removed before. */
    @Override
    public void close() {
        try {
            server.delete("/sandboxes/" + name);
        } catch (ControlException error) {
            if (error.status() != NOT_FOUND) {
                throw error;
            }
        }
    }
}
