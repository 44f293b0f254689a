package dev.thriftstore.testing;

/** What a request does with rows. */
public enum Operation {
    /** Reads one row. */
    READ("read"),
    /** Reads a range of rows. */
    SCAN("scan"),
    /** Writes or deletes columns or rows. */
    WRITE("write"),
    /** Removes all rows of a column family. */
    TRUNCATE("truncate");

    final String word;

    Operation(String word) {
        this.word = word;
    }

    static Operation named(String word) {
        for (Operation operation : values()) {
            if (operation.word.equals(word)) {
                return operation;
            }
        }
        throw new IllegalStateException("unknown operation in a reply of the server: " + word);
    }
}
