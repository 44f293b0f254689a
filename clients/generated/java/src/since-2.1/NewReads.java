package scenario;

import static org.apache.cassandra.thrift.ConsistencyLevel.ONE;
import static scenario.Checks.ALL;
import static scenario.Checks.BOOKS;
import static scenario.Checks.bytes;
import static scenario.Checks.changes;
import static scenario.Checks.check;
import static scenario.Checks.column;
import static scenario.Checks.expression;
import static scenario.Checks.range;
import static scenario.Checks.text;
import static scenario.Checks.write;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.cassandra.thrift.Cassandra;
import org.apache.cassandra.thrift.ColumnSlice;
import org.apache.cassandra.thrift.IndexOperator;
import org.apache.cassandra.thrift.MultiSliceRequest;
import org.apache.cassandra.thrift.Mutation;
import org.apache.thrift.TException;

/** Batches of all or nothing, and the ways to read that the later lines have. */
public final class NewReads implements Part {
    @Override
    public void run(Cassandra.Client client) throws TException {
        var letters = Stream.of("abcdefgh".split("")).map(letter -> write(column(letter, bytes(""), 10)));
        client.atomic_batch_mutate(
                Map.of(
                        bytes("abc"), changes("Books", letters.toArray(Mutation[]::new)),
                        bytes("xyz"), changes("Books", write(column("shelf", bytes("z"), 10)))),
                ONE);

        var slices = List.of(slice("b", "d"), slice("c", "e"), slice("h", ""));
        var several = new MultiSliceRequest()
                .setKey(bytes("abc"))
                .setColumn_parent(BOOKS)
                .setColumn_slices(slices)
                .setCount(10);
        check("several ranges", Checks.columns(client.get_multi_slice(several)), List.of("b=", "c=", "d=", "e=", "h="));

        var paged = client.get_paged_slice("Books", range("abc", "abc", 4), bytes("c"), ONE);
        check(
                "from a column on",
                paged.stream().map(row -> Checks.columns(row.getColumns())).toList(),
                List.of(List.of("c=", "d=", "e=", "f=")));

        var filtered = range("", "", 100).setRow_filter(List.of(expression("shelf", IndexOperator.EQ, bytes("z"))));
        check(
                "a filter",
                client.get_range_slices(BOOKS, ALL, filtered, ONE).stream()
                        .map(row -> text(row.bufferForKey()) + Checks.columns(row.getColumns()))
                        .toList(),
                List.of("xyz[shelf=z]"));
    }

    private static ColumnSlice slice(String start, String finish) {
        return new ColumnSlice().setStart(bytes(start)).setFinish(bytes(finish));
    }
}
