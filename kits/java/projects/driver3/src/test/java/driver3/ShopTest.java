package driver3;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.thriftstore.testing.Database;
import dev.thriftstore.testing.Thriftstore;
import org.junit.jupiter.api.Test;

@Thriftstore(load = "src/test/resources/shop.cql")
class ShopTest {
    @Test
    void cartsHaveItems(Database database) {
        Shop shop = new Shop(database.nativeProtocol()); // Thrift clients connect to thriftAddress()
        assertEquals("tea", shop.items(1));
    }
}
