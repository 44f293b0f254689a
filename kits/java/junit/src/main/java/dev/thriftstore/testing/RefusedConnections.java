package dev.thriftstore.testing;

/** New connections of clients are closed at once, until {@link #close}. */
public final class RefusedConnections implements AutoCloseable {
    private final Database database;

    RefusedConnections(Database database) {
        this.database = database;
    }

    /** Accepts connections again. */
    @Override
    public void close() {
        database.acceptConnections();
    }
}
