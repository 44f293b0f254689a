package dev.thriftstore.testing;

/** What happens to the reply of a request that is carried out. */
public enum FaultReply {
    /** There is no reply, and the connection stays open. */
    NONE("none"),
    /** The connection is closed instead of a reply. */
    CLOSED("closed"),
    /** The connection is closed after half of the reply. */
    HALF("half"),
    /** The connection is closed after the reply. */
    CLOSED_AFTER("closed_after"),
    /** The reply keeps its length and its frame header; the rest is garbage. */
    RUBBISH("rubbish"),
    /** The reply is sent twice. */
    TWICE("twice"),
    /** The reply is sent at one byte per 10 milliseconds. */
    TRICKLE("trickle");

    final String word;

    FaultReply(String word) {
        this.word = word;
    }
}
