package scenario;

import static scenario.Checks.same;

import com.datastax.driver.core.BoundStatement;
import com.datastax.driver.core.DataType;
import com.datastax.driver.core.LocalDate;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.TypeCodec;
import com.datastax.driver.core.UserType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.LocalTime;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A table with a column of every type, in which every driver writes the same. */
final class Everything {
    static final long TIMESTAMP = 1249084800000000L;

    /** A value as a literal of CQL, and as Java has it. */
    private record Column(String name, String type, String literal, Object value) {}

    private final Session session;
    private final List<Column> columns;

    Everything(Session session) throws Exception {
        this.session = session;
        session.execute("CREATE TYPE address (street text, number int)");
        columns = columns(type().newValue().setString("street", "Main").setInt("number", 12));
        session.execute("CREATE TABLE everything (id int PRIMARY KEY, "
                + joined(column -> column.name() + " " + column.type()) + ")");
    }

    private UserType type() {
        return session.getCluster().getMetadata().getKeyspace(Main.KEYSPACE).getUserType("address");
    }

    private List<Column> columns(Object address) throws Exception {
        var tuple = session.getCluster().getMetadata().newTupleType(DataType.cint(), DataType.text());
        var timeId = "7ea23a00-7e40-11de-8a39-0800200c9a66";
        var id = "f81d4fae-7dec-41d0-a765-00a0c91e6bf6";
        var decimal = "-12345678901234567890.123";
        var varint = "123456789012345678901234567890";
        return List.of(
                new Column("a_ascii", "ascii", "'thrift'", "thrift"),
                new Column("a_bigint", "bigint", "-9007199254740993", -9007199254740993L),
                new Column("a_blob", "blob", "0x00ff10", ByteBuffer.wrap(new byte[] {0, (byte) 0xff, 0x10})),
                new Column("a_boolean", "boolean", "true", true),
                new Column("a_date", "date", "'2009-08-01'", LocalDate.fromYearMonthDay(2009, 8, 1)),
                new Column("a_decimal", "decimal", decimal, new BigDecimal(decimal)),
                new Column("a_double", "double", "2.5", 2.5),
                new Column("a_float", "float", "-0.25", -0.25f),
                new Column("an_inet", "inet", "'192.0.2.7'", InetAddress.getByName("192.0.2.7")),
                new Column("an_int", "int", "2147483647", 2147483647),
                new Column("a_smallint", "smallint", "-12345", (short) -12345),
                new Column("a_text", "text", "'Grüße, 世界'", "Grüße, 世界"),
                new Column("a_time", "time", "'12:34:56.789012345'", LocalTime.parse("12:34:56.789012345").toNanoOfDay()),
                new Column("a_timestamp", "timestamp", "1249084800123", new Date(1249084800123L)),
                new Column("a_timeuuid", "timeuuid", timeId, UUID.fromString(timeId)),
                new Column("a_tinyint", "tinyint", "-7", (byte) -7),
                new Column("a_uuid", "uuid", id, UUID.fromString(id)),
                new Column("a_varint", "varint", varint, new BigInteger(varint)),
                new Column("a_list", "list<int>", "[3, 1, 2]", List.of(3, 1, 2)),
                new Column("a_set", "set<text>", "{'b', 'a'}", Set.of("a", "b")),
                new Column("a_map", "map<text, int>", "{'x': 1, 'y': -2}", Map.of("x", 1, "y", -2)),
                new Column("a_frozen", "frozen<list<text>>", "['p', 'q']", List.of("p", "q")),
                new Column("a_tuple", "frozen<tuple<int, text>>", "(5, 'five')", tuple.newValue(5, "five")),
                new Column("an_address", "frozen<address>", "{street: 'Main', number: 12}", address));
    }

    private String joined(Function<Column, String> say) {
        return columns.stream().map(say).collect(Collectors.joining(", "));
    }

    private String insert(String id, Function<Column, String> say) {
        return "INSERT INTO everything (id, " + joined(Column::name) + ") VALUES (" + id + ", " + joined(say)
                + ") USING TIMESTAMP " + TIMESTAMP;
    }

    void check() {
        session.execute(insert("1", Column::literal));
        var insert = session.prepare(insert("?", column -> "?"));
        write(insert, 2, true);
        write(insert, 3, false);
        for (var id : List.of(1, 2)) {
            var row = session.execute("SELECT * FROM everything WHERE id = ?", id).one();
            for (var column : columns) {
                same(column.name() + " of row " + id, column.value(), row.getObject(column.name()));
            }
        }
        var row = session.execute("SELECT * FROM everything WHERE id = 3").one();
        for (var column : columns) {
            same(column.name() + " without a value", true, row.isNull(column.name()));
        }
        session.execute(insert.bind().setInt("id", 2));
        row = session.execute("SELECT * FROM everything WHERE id = 2").one();
        same("what is not set leaves what is there", 2147483647, row.getInt("an_int"));
    }

    /** Every other value of nothing is a null, the others are not set. */
    private void write(PreparedStatement insert, int id, boolean isWhole) {
        var bound = insert.bind().setInt("id", id);
        var isNull = false;
        for (var column : columns) {
            if (isWhole) {
                set(bound, column);
            } else if (isNull = !isNull) {
                bound.setToNull(column.name());
            }
        }
        session.execute(bound);
    }

    private void set(BoundStatement bound, Column column) {
        TypeCodec<Object> codec = session.getCluster()
                .getConfiguration()
                .getCodecRegistry()
                .codecFor(bound.preparedStatement().getVariables().getType(column.name()));
        bound.set(column.name(), column.value(), codec);
    }
}
