package dev.thriftstore.testing;

import com.eclipsesource.json.JsonArray;
import com.eclipsesource.json.JsonObject;
import com.eclipsesource.json.JsonValue;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** A request of a client that has ended. */
public final class RecordedRequest {
    private final JsonObject fields;

    RecordedRequest(JsonObject fields) {
        this.fields = fields;
    }

    /** Returns the number of the request. Numbers count all requests since the start. */
    public long number() {
        return fields.getLong("number", 0);
    }

    /** Returns {@code thrift} or {@code native}. */
    public String protocol() {
        return fields.getString("protocol", "");
    }

    /** Returns the Thrift method, or the opcode of the native protocol. */
    public String method() {
        return fields.getString("method", "");
    }

    /** Returns the first word of the CQL statement. */
    public Optional<String> statement() {
        return text("statement");
    }

    /** Returns the keyspace. */
    public Optional<String> keyspace() {
        return text("keyspace");
    }

    /** Returns the consistency level. */
    public Optional<String> consistency() {
        return text("consistency");
    }

    /** Returns what the request did with rows: the first sixteen. */
    public List<RecordedRow> rows() {
        List<RecordedRow> rows = new ArrayList<>();
        for (JsonValue row : array("rows")) {
            rows.add(new RecordedRow(row.asObject()));
        }
        return Collections.unmodifiableList(rows);
    }

    /** Returns the text of the error, if the request failed. */
    public Optional<String> error() {
        return text("error");
    }

    /** Returns the names of the rules that had an effect on the request. */
    public List<String> faults() {
        List<String> names = new ArrayList<>();
        for (JsonValue name : array("faults")) {
            names.add(name.asString());
        }
        return Collections.unmodifiableList(names);
    }

    /** Returns how long the request took. */
    public Duration duration() {
        return Duration.of(fields.getLong("micros", 0), ChronoUnit.MICROS);
    }

    private Optional<String> text(String field) {
        return Optional.ofNullable(fields.getString(field, null));
    }

    private JsonArray array(String field) {
        JsonValue value = fields.get(field);
        return value == null ? new JsonArray() : value.asArray();
    }

    /** Returns the request on one line, such as {@code 7 thrift insert Blog ONE [write Posts[a]] 41 us}. */
    @Override
    public String toString() {
        StringBuilder line = new StringBuilder();
        line.append(number()).append(' ').append(protocol()).append(' ').append(method());
        statement().ifPresent(word -> line.append(' ').append(word));
        keyspace().ifPresent(name -> line.append(' ').append(name));
        consistency().ifPresent(level -> line.append(' ').append(level));
        line.append(String.format(" %s %d us", rows(), fields.getLong("micros", 0)));
        error().ifPresent(error -> line.append(" error: ").append(error));
        if (!faults().isEmpty()) {
            line.append(" faults: ").append(faults());
        }
        return line.toString();
    }
}
