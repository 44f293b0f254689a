package dev.thriftstore.testing;

/** The control port of the server refused a request, or could not be reached. The message is the server's sentence. */
public final class ControlException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int status;

    ControlException(int status, String message) {
        super(message);
        this.status = status;
    }

    ControlException(String message, Throwable cause) {
        super(message, cause);
        this.status = 0;
    }

    /** Returns the HTTP status of the reply; 0 if there was no reply. */
    public int status() {
        return status;
    }
}
