package bloggy;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.cassandra.thrift.Column;
import org.apache.cassandra.thrift.ColumnOrSuperColumn;
import org.apache.cassandra.thrift.Mutation;
import org.apache.cassandra.thrift.SlicePredicate;
import org.apache.cassandra.thrift.SliceRange;
import org.apache.cassandra.thrift.SuperColumn;

/** Between the blog's own types and the columns, mutations and predicates of the generated client. */
final class Columns {
    private Columns() {}

    static SlicePredicate first(int count) {
        return slice(false, count);
    }

    static SlicePredicate last(int count) {
        return slice(true, count);
    }

    private static SlicePredicate slice(boolean reversed, int count) {
        var open = bytes("");
        return new SlicePredicate().setSlice_range(new SliceRange(open, open, reversed, count));
    }

    /** The timestamp of a write: of two values for one column, the one with the greater timestamp stays. */
    static long micros(Instant time) {
        return time.toEpochMilli() * 1000;
    }

    static List<Column> columns(Map<String, String> fields, Instant time) {
        return fields.entrySet().stream()
                .map(field -> column(bytes(field.getKey()), field.getValue(), time))
                .toList();
    }

    static Column column(ByteBuffer name, String value, Instant time) {
        return new Column(name, bytes(value), micros(time));
    }

    static List<Mutation> write(List<Column> columns) {
        return columns.stream()
                .map(column -> mutation(new ColumnOrSuperColumn().setColumn(column)))
                .toList();
    }

    static Mutation write(SuperColumn superColumn) {
        return mutation(new ColumnOrSuperColumn().setSuper_column(superColumn));
    }

    private static Mutation mutation(ColumnOrSuperColumn entry) {
        return new Mutation().setColumn_or_supercolumn(entry);
    }

    /** Names and values of columns that hold texts, in the order in which they came. */
    static Map<String, String> fieldsOf(List<ColumnOrSuperColumn> entries) {
        return decoded(entries.stream().map(ColumnOrSuperColumn::getColumn).toList());
    }

    private static Map<String, String> decoded(List<Column> columns) {
        var fields = new LinkedHashMap<String, String>();
        columns.forEach(column -> fields.put(text(column.getName()), text(column.getValue())));
        return fields;
    }

    static Post postOf(Map<String, String> fields) {
        return new Post(
                fields.get("slug"),
                fields.get("title"),
                fields.get("body"),
                fields.get("author"),
                splitTags(fields.get("tags")),
                parseSeconds(fields.get("pubDate")));
    }

    static Comment commentOf(SuperColumn superColumn) {
        var fields = decoded(superColumn.getColumns());
        return new Comment(
                fields.get("commenter"),
                fields.get("email"),
                fields.get("comment"),
                parseSeconds(fields.get("commentTime")));
    }

    static List<String> splitTags(String tags) {
        return Stream.of(tags.split(",")).filter(tag -> !tag.isEmpty()).toList();
    }

    private static Instant parseSeconds(String seconds) {
        return Instant.ofEpochSecond(Long.parseLong(seconds));
    }

    static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    static String text(byte[] bytes) {
        return new String(bytes, UTF_8);
    }
}
