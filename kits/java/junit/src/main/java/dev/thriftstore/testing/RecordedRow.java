package dev.thriftstore.testing;

import com.eclipsesource.json.JsonObject;
import java.util.Optional;

/** What a recorded request did with one row, or with a range of rows. */
public final class RecordedRow {
    private final JsonObject fields;

    RecordedRow(JsonObject fields) {
        this.fields = fields;
    }

    /** Returns what was done. */
    public Operation operation() {
        return Operation.named(fields.getString("operation", ""));
    }

    /** Returns the name of the column family or table. */
    public String columnFamily() {
        return fields.getString("column_family", "");
    }

    /** Returns the row key: in the text of its type, else as UTF-8, else in hexadecimal digits. Empty for a range. */
    public Optional<String> key() {
        return Optional.ofNullable(fields.getString("key", null));
    }

    /** Returns the row in the form {@code write Carts[1]}. */
    @Override
    public String toString() {
        return operation().word + " " + columnFamily()
                + key().map(key -> "[" + key + "]").orElse("");
    }
}
