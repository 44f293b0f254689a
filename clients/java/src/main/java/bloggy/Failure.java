package bloggy;

/** What was asked for cannot be done; the message says why. */
final class Failure extends Exception {
    Failure(String reason) {
        super(reason);
    }
}
