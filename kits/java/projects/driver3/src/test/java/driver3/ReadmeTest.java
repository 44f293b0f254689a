package driver3;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.thriftstore.testing.Database;
import dev.thriftstore.testing.Thriftstore;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The README's examples of what a database can do. */
@Thriftstore(load = "src/test/resources/shop.cql")
class ReadmeTest {
    @Test
    void whatADatabaseCanDo(Database database) {
        database.snapshot("loaded"); // and restore, snapshots, deleteSnapshot
        database.loadCql("INSERT INTO shop.carts (id, items) VALUES (2, 'milk');"); // and load(path), loadJson(text)
        String rows = database.dump(); // JSON, which loadJson reads
        database.clock().freeze(); // and freezeAt(time), unfreeze, set(time), follow, now
        database.clock().advance(Duration.ofHours(1));
        database.reset(); // and resetData, resetFaults
        database.restart(); // closes all connections

        assertTrue(rows.contains("milk"), rows);
        assertFalse(database.dump().contains("milk"));
    }
}
