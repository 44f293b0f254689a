package dev.thriftstore.testing;

import com.eclipsesource.json.Json;
import com.eclipsesource.json.JsonObject;

/**
 * A condition on requests of clients. A request meets it if all given fields match. Conditions are immutable: each
 * method returns a new one.
 *
 * <pre>requests().method("insert").columnFamily("Carts").key("1")</pre>
 */
public final class Condition {
    private final JsonObject fields;

    private Condition(JsonObject fields) {
        this.fields = fields;
    }

    /** Returns the condition that all requests meet. */
    public static Condition requests() {
        return new Condition(new JsonObject());
    }

    /** Only requests over Thrift. */
    public Condition thrift() {
        return with("protocol", "thrift");
    }

    /** Only requests over the native protocol. */
    public Condition nativeProtocol() {
        return with("protocol", "native");
    }

    /** Only this Thrift method, or {@code QUERY}, {@code PREPARE}, {@code EXECUTE} or {@code BATCH}. */
    public Condition method(String method) {
        return with("method", method);
    }

    /** Only CQL 3 statements with this first word, such as {@code SELECT}; {@code OTHER} for schema changes. */
    public Condition statement(String statement) {
        return with("statement", statement);
    }

    /** Only requests that do this with rows. */
    public Condition operation(Operation operation) {
        return with("operation", operation.word);
    }

    /** Only this keyspace. */
    public Condition keyspace(String keyspace) {
        return with("keyspace", keyspace);
    }

    /** Only this column family or table. */
    public Condition columnFamily(String columnFamily) {
        return with("column_family", columnFamily);
    }

    /** Only this row key, as UTF-8 or in the text of its type, such as {@code 42}. */
    public Condition key(String key) {
        return with("key", key);
    }

    /** Only this consistency level, such as {@code QUORUM}. */
    public Condition consistency(String consistency) {
        return with("consistency", consistency);
    }

    /**
     * Only Thrift calls of this API generation: {@code with_text_paths} (0.3), {@code with_keyspace} (0.4 to 0.6) or
     * {@code after_set_keyspace} (0.7 on).
     */
    public Condition generation(String generation) {
        return with("generation", generation);
    }

    /** Only the connection with this number, as requests show it. */
    public Condition connection(long connection) {
        return new Condition(new JsonObject(fields).set("connection", connection));
    }

    private Condition with(String field, String value) {
        return new Condition(new JsonObject(fields).set(field, Json.value(value)));
    }

    JsonObject json() {
        return new JsonObject(fields);
    }

    /** Returns the condition as the control port reads it. */
    @Override
    public String toString() {
        return fields.toString();
    }
}
