package scenario;

import org.apache.cassandra.thrift.Cassandra;
import org.apache.thrift.TException;

/** A part of the scenario that only later lines have. The keyspace is chosen already. */
public interface Part {
    void run(Cassandra.Client client) throws TException;
}
