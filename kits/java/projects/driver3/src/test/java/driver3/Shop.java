package driver3;

import com.datastax.driver.core.Cluster;
import java.net.InetSocketAddress;

/** The class under test of the README's first example. */
final class Shop {
    private final InetSocketAddress server;

    Shop(InetSocketAddress server) {
        this.server = server;
    }

    /** Returns the items of a cart. */
    String items(int id) {
        try (Cluster cluster =
                Cluster.builder().addContactPointsWithPorts(server).build()) {
            return cluster.connect()
                    .execute("SELECT items FROM shop.carts WHERE id = " + id)
                    .one()
                    .getString("items");
        }
    }
}
