package dev.thriftstore.testing;

/** An error that a {@link Rule} gives to clients. Each protocol and generation of the API has its own form of it. */
public enum FaultError {
    /** Too few replicas are alive. */
    UNAVAILABLE("unavailable"),
    /** The replicas did not answer in time. */
    TIMED_OUT("timed_out"),
    /** The request is invalid. */
    INVALID_REQUEST("invalid_request"),
    /** The Thrift method {@code get} found nothing. */
    NOT_FOUND("not_found"),
    /** The nodes have different schemas. */
    SCHEMA_DISAGREEMENT("schema_disagreement"),
    /** The login failed. */
    AUTHENTICATION("authentication"),
    /** The user has no permission. */
    AUTHORIZATION("authorization"),
    /** The server is overloaded. */
    OVERLOADED("overloaded"),
    /** A failure of the server: a TApplicationException, or a server error of the native protocol. */
    INTERNAL("internal");

    final String word;

    FaultError(String word) {
        this.word = word;
    }
}
