package blog;

import dev.thriftstore.testing.Database;
import java.util.concurrent.atomic.AtomicInteger;
import me.prettyprint.cassandra.model.QuorumAllConsistencyLevelPolicy;
import me.prettyprint.cassandra.service.CassandraHostConfigurator;
import me.prettyprint.cassandra.service.FailoverPolicy;
import me.prettyprint.hector.api.Cluster;
import me.prettyprint.hector.api.Keyspace;
import me.prettyprint.hector.api.factory.HFactory;

/** Connections of Hector to the database of a test. */
final class Hector implements AutoCloseable {
    // Hector keeps clusters in a static map, by their names.
    private static final AtomicInteger CLUSTERS = new AtomicInteger();

    private final Cluster cluster;

    /** Connects with one connection, and waits at most half a second for a reply. */
    Hector(Database database) {
        this(database.thriftAddress());
    }

    Hector(String address) {
        CassandraHostConfigurator hosts = new CassandraHostConfigurator(address);
        hosts.setMaxActive(1);
        hosts.setCassandraThriftSocketTimeout(500);
        hosts.setRetryDownedHosts(false);
        cluster = HFactory.getOrCreateCluster("test-" + CLUSTERS.incrementAndGet(), hosts);
    }

    /** Returns the blog's keyspace. A request that has failed is not sent again. */
    Keyspace keyspace() {
        return HFactory.createKeyspace(
                "BloggyAppy", cluster, new QuorumAllConsistencyLevelPolicy(), FailoverPolicy.FAIL_FAST);
    }

    @Override
    public void close() {
        HFactory.shutdownCluster(cluster);
    }
}
