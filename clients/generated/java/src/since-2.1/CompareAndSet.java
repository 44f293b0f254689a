package scenario;

import static scenario.Checks.ALL;
import static scenario.Checks.BOOKS;
import static scenario.Checks.bytes;
import static scenario.Checks.check;
import static scenario.Checks.column;

import java.util.List;
import java.util.stream.Stream;
import org.apache.cassandra.thrift.Cassandra;
import org.apache.cassandra.thrift.ConsistencyLevel;
import org.apache.thrift.TException;

/** Writes that depend on what is there. */
public final class CompareAndSet implements Part {
    @Override
    public void run(Cassandra.Client client) throws TException {
        check("the first", cas(client, "ada"), "done");
        check("comes first", cas(client, "bob"), "[keeper=ada]");
        check("not if another is there", cas(client, "bob", "eve"), "[keeper=ada]");
        check("but if she is", cas(client, "bob", "ada"), "done");
        var desk = client.get_slice(bytes("desk"), BOOKS, ALL, ConsistencyLevel.ONE);
        check("so it is him", Checks.columns(desk), List.of("keeper=bob"));
    }

    private static String cas(Cassandra.Client client, String value, String... expected) throws TException {
        var keepers = Stream.of(expected)
                .map(each -> column("keeper", bytes(each), 1))
                .toList();
        var update = List.of(column("keeper", bytes(value), System.currentTimeMillis() * 1000));
        var result =
                client.cas(bytes("desk"), "Books", keepers, update, ConsistencyLevel.SERIAL, ConsistencyLevel.QUORUM);
        return result.isSuccess()
                ? "done"
                : result.getCurrent_values().stream().map(Checks::pair).toList().toString();
    }
}
