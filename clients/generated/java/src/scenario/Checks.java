package scenario;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.cassandra.thrift.Column;
import org.apache.cassandra.thrift.ColumnOrSuperColumn;
import org.apache.cassandra.thrift.ColumnParent;
import org.apache.cassandra.thrift.ColumnPath;
import org.apache.cassandra.thrift.IndexExpression;
import org.apache.cassandra.thrift.IndexOperator;
import org.apache.cassandra.thrift.KeyRange;
import org.apache.cassandra.thrift.Mutation;
import org.apache.cassandra.thrift.SlicePredicate;
import org.apache.cassandra.thrift.SliceRange;
import org.apache.cassandra.thrift.SuperColumn;
import org.apache.thrift.TException;

/** What every part of the scenario needs: checks, and short words for the client's long ones. */
public final class Checks {
    public static final ColumnParent BOOKS = new ColumnParent("Books");
    public static final ColumnParent LOANS = new ColumnParent("Loans");
    public static final SlicePredicate ALL = between(bytes(""), bytes(""), false, 100);

    private static int count;

    private Checks() {}

    public interface Call {
        void run() throws TException;
    }

    public static int count() {
        return count;
    }

    public static void check(String what, Object found, Object expected) {
        count++;
        if (!Objects.equals(found, expected)) {
            throw new AssertionError(what + ": expected " + expected + ", found " + found);
        }
    }

    public static void refused(String what, Class<? extends TException> kind, Call call) throws TException {
        try {
            call.run();
        } catch (TException error) {
            if (!kind.isInstance(error)) {
                throw error;
            }
            count++;
            return;
        }
        throw new AssertionError(what + ": expected " + kind.getSimpleName());
    }

    public static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    public static ByteBuffer bytes(long number) {
        return ByteBuffer.allocate(8).putLong(0, number);
    }

    /** Texts as they are, and the eight bytes of a small number as that number. */
    public static String text(ByteBuffer bytes) {
        var copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return copy.length == 8 && (copy[0] == 0 || copy[0] == -1)
                ? "" + ByteBuffer.wrap(copy).getLong()
                : new String(copy, UTF_8);
    }

    public static SlicePredicate names(String... names) {
        return new SlicePredicate()
                .setColumn_names(Arrays.stream(names).map(Checks::bytes).toList());
    }

    public static SlicePredicate between(ByteBuffer start, ByteBuffer finish, boolean reversed, int count) {
        return new SlicePredicate().setSlice_range(new SliceRange(start, finish, reversed, count));
    }

    public static KeyRange range(String start, String end, int count) {
        return new KeyRange(count).setStart_key(bytes(start)).setEnd_key(bytes(end));
    }

    public static IndexExpression expression(String name, IndexOperator operator, ByteBuffer value) {
        return new IndexExpression(bytes(name), operator, value);
    }

    public static ColumnPath path(String family, ByteBuffer superColumn, String column) {
        var path = new ColumnPath(family).setSuper_column(superColumn);
        return column == null ? path : path.setColumn(bytes(column));
    }

    public static ColumnParent parent(String family, ByteBuffer superColumn) {
        return new ColumnParent(family).setSuper_column(superColumn);
    }

    public static Column column(String name, ByteBuffer value, long timestamp) {
        var column = new Column();
        column.setName(bytes(name)).setValue(value).setTimestamp(timestamp);
        return column;
    }

    public static Mutation write(Column column) {
        return new Mutation().setColumn_or_supercolumn(new ColumnOrSuperColumn().setColumn(column));
    }

    public static Mutation write(SuperColumn column) {
        return new Mutation().setColumn_or_supercolumn(new ColumnOrSuperColumn().setSuper_column(column));
    }

    /** One row's part of a batch. */
    public static Map<String, List<Mutation>> changes(String family, Mutation... mutations) {
        return Map.of(family, List.of(mutations));
    }

    /** {@code name=value} for each column, in their order. */
    public static List<String> columns(List<ColumnOrSuperColumn> entries) {
        return entries.stream().map(entry -> pair(entry.getColumn())).toList();
    }

    public static String pair(Column column) {
        return text(column.bufferForName()) + "=" + text(column.bufferForValue());
    }

    /** {@code name[name=value, ...]} for each super column, in their order. */
    public static List<String> superColumns(List<ColumnOrSuperColumn> entries) {
        return entries.stream()
                .map(ColumnOrSuperColumn::getSuper_column)
                .map(each -> text(each.bufferForName())
                        + each.getColumns().stream().map(Checks::pair).toList())
                .toList();
    }
}
