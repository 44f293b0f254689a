package scenario;

import static org.apache.cassandra.thrift.ConsistencyLevel.ONE;
import static scenario.Checks.ALL;
import static scenario.Checks.bytes;
import static scenario.Checks.changes;
import static scenario.Checks.check;
import static scenario.Checks.column;
import static scenario.Checks.path;
import static scenario.Checks.refused;
import static scenario.Checks.text;

import java.util.List;
import java.util.Map;
import org.apache.cassandra.thrift.Cassandra;
import org.apache.cassandra.thrift.ColumnOrSuperColumn;
import org.apache.cassandra.thrift.ColumnParent;
import org.apache.cassandra.thrift.CounterColumn;
import org.apache.cassandra.thrift.InvalidRequestException;
import org.apache.cassandra.thrift.Mutation;
import org.apache.cassandra.thrift.NotFoundException;
import org.apache.thrift.TException;

/** Sums that nobody has to read before adding to them. */
public final class Counters implements Part {
    private static final ColumnParent VISITS = new ColumnParent("Visits");

    @Override
    public void run(Cassandra.Client client) throws TException {
        var dune = bytes("dune");
        var read = path("Visits", null, "read");
        client.add(dune, VISITS, new CounterColumn(bytes("read"), 5), ONE);
        client.add(dune, VISITS, new CounterColumn(bytes("read"), -2), ONE);
        check("a sum", client.get(dune, read, ONE).getCounter_column().getValue(), 3L);
        client.batch_mutate(Map.of(dune, changes("Visits", add("read", 10), add("lent", 1))), ONE);
        var sums = client.get_slice(dune, VISITS, ALL, ONE).stream()
                .map(ColumnOrSuperColumn::getCounter_column)
                .map(each -> text(each.bufferForName()) + "=" + each.getValue())
                .toList();
        check("two sums", sums, List.of("lent=1", "read=13"));
        client.remove_counter(dune, read, ONE);
        refused("a counter that is gone", NotFoundException.class, () -> client.get(dune, read, ONE));
        refused(
                "to write what counts",
                InvalidRequestException.class,
                () -> client.insert(dune, VISITS, column("read", bytes("1"), 1), ONE));
    }

    private static Mutation add(String name, long by) {
        return new Mutation()
                .setColumn_or_supercolumn(
                        new ColumnOrSuperColumn().setCounter_column(new CounterColumn(bytes(name), by)));
    }
}
