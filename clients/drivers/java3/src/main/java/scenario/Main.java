package scenario;

import static scenario.Checks.eventually;
import static scenario.Checks.refused;
import static scenario.Checks.same;

import com.datastax.driver.core.BatchStatement;
import com.datastax.driver.core.Cluster;
import com.datastax.driver.core.CodecRegistry;
import com.datastax.driver.core.HostDistance;
import com.datastax.driver.core.KeyspaceMetadata;
import com.datastax.driver.core.PoolingOptions;
import com.datastax.driver.core.ProtocolOptions.Compression;
import com.datastax.driver.core.ProtocolVersion;
import com.datastax.driver.core.QueryOptions;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SimpleStatement;
import com.datastax.driver.core.SocketOptions;
import com.datastax.driver.core.exceptions.AlreadyExistsException;
import com.datastax.driver.core.exceptions.InvalidQueryException;
import com.datastax.driver.core.exceptions.SyntaxError;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

/** The Java driver 3 against a server: Main HOST CQL_PORT. */
public final class Main {
    static final String KEYSPACE = "drivers_java3";
    private static final String REPLICATION =
            " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    private static final int PARTITIONS = 20;
    private static final int ROWS_EACH = 5000;
    private static final int PAGE_SIZE = 5000;

    private static InetSocketAddress address;
    private final Session session;

    private Main(Session session) {
        this.session = session;
    }

    public static void main(String[] arguments) {
        var status = 1;
        address = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        try {
            connections();
            try (var cluster = connect(null, Compression.LZ4)) {
                new Main(cluster.connect(KEYSPACE)).run();
            }
            status = 0;
        } catch (Throwable failure) {
            failure.printStackTrace(System.out);
        }
        System.out.println(Checks.count + " checks");
        System.exit(status);
    }

    /** A cluster of that protocol version, or of the newest that both speak. */
    private static Cluster connect(ProtocolVersion version, Compression compression) {
        var builder = Cluster.builder()
                .addContactPointsWithPorts(address)
                .withCompression(compression)
                .withoutJMXReporting()
                .withoutMetrics()
                .withPoolingOptions(new PoolingOptions().setConnectionsPerHost(HostDistance.LOCAL, 1, 2))
                .withQueryOptions(new QueryOptions().setFetchSize(PAGE_SIZE).setRefreshSchemaIntervalMillis(10))
                .withSocketOptions(new SocketOptions().setReadTimeoutMillis(60_000));
        return (version == null ? builder : builder.withProtocolVersion(version)).build();
    }

    private static void connections() {
        for (var version : Arrays.asList(
                null, ProtocolVersion.V1, ProtocolVersion.V2, ProtocolVersion.V3, ProtocolVersion.V4)) {
            var compression = version == ProtocolVersion.V3 ? Compression.NONE : Compression.LZ4;
            try (var cluster = connect(version, compression)) {
                var row = cluster.connect().execute("SELECT key FROM system.local").one();
                var spoken = cluster.getConfiguration().getProtocolOptions().getProtocolVersion();
                same("version " + spoken, "local", row.getString("key"));
                if (version == null) {
                    same("hosts", 1, cluster.getMetadata().getAllHosts().size());
                    cluster.connect().execute("DROP KEYSPACE IF EXISTS " + KEYSPACE);
                    cluster.connect().execute("CREATE KEYSPACE " + KEYSPACE + REPLICATION);
                }
            }
        }
    }

    private void run() throws Exception {
        new Everything(session).check();
        for (var statement : List.of(
                "CREATE TABLE counts (id text PRIMARY KEY, n counter)",
                "CREATE TABLE posts (author text, year int, written timeuuid, title text, motto text STATIC,"
                        + " PRIMARY KEY ((author, year), written)) WITH CLUSTERING ORDER BY (written DESC)",
                "CREATE TABLE numbers (part int, number int, square bigint, PRIMARY KEY (part, number))",
                "CREATE TABLE accounts (id int PRIMARY KEY, owner text, city text)",
                "CREATE INDEX by_city ON accounts (city)")) {
            session.execute(statement);
        }
        prepared();
        keyspaces();
        batches();
        conditions();
        fill();
        paging();
        tokenRanges();
        schemaRead();
        schemaEvents();
        errors();
    }

    private List<String> rows(String statement, Object... values) {
        return session.execute(statement, values).all().stream().map(Object::toString).toList();
    }

    private void prepared() {
        var select = session.prepare("SELECT title FROM posts WHERE year = :year AND author = :author");
        var bound = select.bind(1843, "ada");
        var key = new byte[] {0, 3, 'a', 'd', 'a', 0, 0, 4, 0, 0, 7, 0x33, 0};
        same("a routing key", ByteBuffer.wrap(key), bound.getRoutingKey(ProtocolVersion.V4, CodecRegistry.DEFAULT_INSTANCE));
        var insert = session.prepare("INSERT INTO accounts (id, owner, city) VALUES (?, ?, ?)");
        for (var id = 0; id < 5; id++) {
            session.execute(insert.bind(id, "owner " + id, "Turku"));
        }
        var found = session.execute(session.prepare("SELECT id FROM accounts WHERE id IN ?").bind(List.of(4, 3, 9)));
        same("a list for IN", Set.of(3, 4), found.all().stream().map(row -> row.getInt(0)).collect(Collectors.toSet()));
        same("an index", 5, rows("SELECT id FROM accounts WHERE city = ?", "Turku").size());
        var named = new SimpleStatement("SELECT owner FROM accounts WHERE id = :id", Map.of("id", 3));
        same("a value by its name", "owner 3", session.execute(named).one().getString(0));
    }

    private void keyspaces() {
        try (var cluster = connect(null, Compression.NONE)) {
            var other = cluster.connect();
            refused("no keyspace", InvalidQueryException.class, "No keyspace has been specified",
                    () -> other.execute("SELECT * FROM accounts"));
            other.execute("USE " + KEYSPACE);
            same("USE", KEYSPACE, other.getLoggedKeyspace());
            same("counted", 5L, other.execute("SELECT count(*) FROM accounts").one().getLong(0));
            refused("no such keyspace", InvalidQueryException.class, "nowhere", () -> other.execute("USE nowhere"));
        }
    }

    private void batches() {
        var insert = session.prepare("INSERT INTO accounts (id, owner) VALUES (?, ?)");
        for (var kind : List.of(BatchStatement.Type.LOGGED, BatchStatement.Type.UNLOGGED)) {
            session.execute(new BatchStatement(kind)
                    .add(insert.bind(10, kind.name()))
                    .add(new SimpleStatement("INSERT INTO accounts (id, owner) VALUES (?, ?)", 11, "values")));
            same("a batch, " + kind, List.of("Row[" + kind + "]", "Row[values]"),
                    rows("SELECT owner FROM accounts WHERE id IN (10, 11)").stream().sorted().toList());
        }
        session.execute("UPDATE counts SET n = n + 5 WHERE id = 'a'");
        var less = new SimpleStatement("UPDATE counts SET n = n - 2 WHERE id = 'a'");
        session.execute(new BatchStatement(BatchStatement.Type.COUNTER).add(less));
        same("a counter", List.of("Row[a, 3]"), rows("SELECT * FROM counts"));
        refused("a counter in a batch of others", InvalidQueryException.class, "counter",
                () -> session.execute(new BatchStatement().add(less)));
    }

    private void conditions() {
        var insert = "INSERT INTO accounts (id, owner, city) VALUES (20, ?, 'Turku') IF NOT EXISTS";
        same("a row that was not there", true, session.execute(insert, "ada").wasApplied());
        same("one that was", List.of("Row[false, 20, Turku, ada]"), rows(insert, "bob"));
        var update = "UPDATE accounts SET owner = ? WHERE id = 20 IF owner = ?";
        same("another owner", List.of("Row[false, ada]"), rows(update, "eve", "mallory"));
        same("the owner", List.of("Row[true]"), rows(update, "eve", "ada"));
    }

    /** Writes all the numbers, several batches at a time. */
    private void fill() throws Exception {
        var insert = session.prepare("INSERT INTO numbers (part, number, square) VALUES (?, ?, ?)");
        var writing = new ArrayDeque<Future<?>>();
        for (var start = 0; start < ROWS_EACH; start += 100) {
            for (var part = 0; part < PARTITIONS; part++) {
                var batch = new BatchStatement(BatchStatement.Type.UNLOGGED);
                for (var number = start; number < start + 100; number++) {
                    batch.add(insert.bind(part, number, (long) number * number));
                }
                writing.add(session.executeAsync(batch));
                if (writing.size() > 32) {
                    writing.remove().get();
                }
            }
        }
        for (var one : writing) {
            one.get();
        }
    }

    private void paging() {
        var next = new int[PARTITIONS];
        var found = session.execute("SELECT part, number, square FROM numbers");
        long rows = 0;
        long sum = 0;
        for (var row : found) {
            if (row.getInt(1) != next[row.getInt(0)]++) {
                throw new AssertionError("a row out of order: " + row);
            }
            rows++;
            sum += row.getLong(2);
        }
        var wanted = 0L;
        for (long number = 0; number < ROWS_EACH; number++) {
            wanted += number * number * PARTITIONS;
        }
        same("rows, all in order", (long) PARTITIONS * ROWS_EACH, rows);
        same("their sum", wanted, sum);
        var pages = found.getAllExecutionInfo().size() - PARTITIONS * ROWS_EACH / PAGE_SIZE;
        same("pages", true, pages == 0 || pages == 1);
        var few = new SimpleStatement("SELECT number FROM numbers WHERE part = 7").setFetchSize(10);
        var state = session.execute(few).getExecutionInfo().getPagingState();
        same("the next page", 10, session.execute(few.setPagingState(state)).one().getInt(0));
    }

    private void tokenRanges() {
        var select = session.prepare("SELECT DISTINCT part FROM numbers WHERE token(part) > ? AND token(part) <= ?");
        var seen = new HashSet<Integer>();
        for (var range : session.getCluster().getMetadata().getTokenRanges()) {
            for (var part : range.splitEvenly(8)) {
                for (var unwrapped : part.unwrap()) {
                    // The last range ends with the lowest token, which stands for the end of them all.
                    var bound = select.bind().setToken(0, unwrapped.getStart()).setToken(1, unwrapped.getEnd());
                    for (var row : session.execute(bound)) {
                        same("partition " + row.getInt(0) + " once", true, seen.add(row.getInt(0)));
                    }
                }
            }
        }
        same("all partitions, by their tokens", PARTITIONS, seen.size());
    }

    private KeyspaceMetadata keyspace() {
        return session.getCluster().getMetadata().getKeyspace(KEYSPACE);
    }

    private void schemaRead() {
        var posts = keyspace().getTable("posts");
        same("the partition key", "[author, year]",
                posts.getPartitionKey().stream().map(column -> column.getName()).toList().toString());
        same("the clustering", "written", posts.getClusteringColumns().get(0).getName());
        same("its order", "[DESC]", posts.getClusteringOrder().toString());
        same("a static column", true, posts.getColumn("motto").isStatic());
        same("an index", "city", keyspace().getTable("accounts").getIndex("by_city").getTarget());
        same("a type", List.of("street", "number"), List.copyOf(keyspace().getUserType("address").getFieldNames()));
    }

    private int columnsOf(String table) {
        var found = keyspace().getTable(table);
        return found == null ? 0 : found.getColumns().size();
    }

    private void schemaEvents() throws Exception {
        try (var cluster = connect(null, Compression.NONE)) {
            var other = cluster.connect(KEYSPACE);
            other.execute("CREATE TABLE told (id int PRIMARY KEY, a text)");
            eventually("another session made a table", 2, () -> columnsOf("told"));
            other.execute("ALTER TABLE told ADD b int");
            eventually("and changed it", 3, () -> columnsOf("told"));
            other.execute("DROP TABLE told");
            eventually("and dropped it", 0, () -> columnsOf("told"));
        }
    }

    private void errors() {
        refused("no statement", SyntaxError.class, "line 1:0", () -> session.execute("SELEC * FROM posts"));
        refused("no table", InvalidQueryException.class, "unconfigured", () -> session.execute("SELECT * FROM nowhere"));
        refused("no column", InvalidQueryException.class, "Undefined column name nothing",
                () -> session.execute("SELECT nothing FROM posts"));
        refused("a table that is there", AlreadyExistsException.class, "already exists",
                () -> session.execute("CREATE TABLE accounts (id int PRIMARY KEY)"));
        refused("a keyspace that is there", AlreadyExistsException.class, "already exists",
                () -> session.execute("CREATE KEYSPACE " + KEYSPACE + REPLICATION));
        var select = session.prepare("SELECT * FROM accounts WHERE id = 20");
        same("before", 3, session.execute(select.bind()).getColumnDefinitions().size());
        session.execute("ALTER TABLE accounts ADD phone text");
        same("after", 4, session.execute(select.bind()).getColumnDefinitions().size());
    }
}
