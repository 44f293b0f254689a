package scenario;

import static scenario.Checks.eventually;
import static scenario.Checks.refused;
import static scenario.Checks.same;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.schema.KeyspaceMetadata;
import com.datastax.oss.driver.api.core.metadata.schema.TableMetadata;
import com.datastax.oss.driver.api.core.servererrors.AlreadyExistsException;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/** The Java driver 4 against a server: Main HOST CQL_PORT. */
public final class Main {
    static final String KEYSPACE = "drivers_java4";
    private static final String REPLICATION =
            " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    private static final int PARTITIONS = 20;
    private static final int ROWS_EACH = 5000;
    private static final int PAGE_SIZE = 5000;

    private static InetSocketAddress address;
    private final CqlSession session;

    private Main(CqlSession session) {
        this.session = session;
    }

    public static void main(String[] arguments) {
        var status = 1;
        address = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        try {
            connections();
            try (var session = connect("", "lz4", KEYSPACE)) {
                new Main(session).run();
            }
            status = 0;
        } catch (Throwable failure) {
            failure.printStackTrace(System.out);
        }
        System.out.println(Checks.count + " checks");
        System.exit(status);
    }

    /** A session of that protocol version, or of the newest that both speak. */
    private static CqlSession connect(String version, String compression, String keyspace) {
        var options = DriverConfigLoader.programmaticBuilder()
                .withString(DefaultDriverOption.PROTOCOL_COMPRESSION, compression)
                .withInt(DefaultDriverOption.REQUEST_PAGE_SIZE, PAGE_SIZE)
                .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(30))
                .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(30))
                .withDuration(DefaultDriverOption.METADATA_SCHEMA_WINDOW, Duration.ofMillis(10))
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(60));
        if (!version.isEmpty()) {
            options = options.withString(DefaultDriverOption.PROTOCOL_VERSION, version);
        }
        var builder = CqlSession.builder()
                .addContactPoint(address)
                .withLocalDatacenter("datacenter1")
                .withConfigLoader(options.build());
        return (keyspace.isEmpty() ? builder : builder.withKeyspace(keyspace)).build();
    }

    private static void connections() {
        for (var version : List.of("", "V3", "V4", "V5")) {
            try (var session = connect(version, version.equals("V3") ? "none" : "lz4", "")) {
                var row = session.execute("SELECT key FROM system.local").one();
                same("version " + session.getContext().getProtocolVersion(), "local", row.getString("key"));
                if (version.isEmpty()) {
                    same("nodes", 1, session.getMetadata().getNodes().size());
                    session.execute("DROP KEYSPACE IF EXISTS " + KEYSPACE);
                    session.execute("CREATE KEYSPACE " + KEYSPACE + REPLICATION);
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
        return session.execute(statement, values).all().stream().map(Row::getFormattedContents).toList();
    }

    private void prepared() {
        var select = session.prepare("SELECT title FROM posts WHERE year = :year AND author = :author");
        same("the places of the partition key", List.of(1, 0), select.getPartitionKeyIndices());
        var bound = select.bind(1843, "ada");
        var key = new byte[] {0, 3, 'a', 'd', 'a', 0, 0, 4, 0, 0, 7, 0x33, 0};
        same("a routing key", ByteBuffer.wrap(key), bound.getRoutingKey());
        var insert = session.prepare("INSERT INTO accounts (id, owner, city) VALUES (?, ?, ?)");
        for (var id = 0; id < 5; id++) {
            session.execute(insert.bind(id, "owner " + id, "Turku"));
        }
        var found = session.execute(session.prepare("SELECT id FROM accounts WHERE id IN ?").bind(List.of(4, 3, 9)));
        same("a list for IN", Set.of(3, 4), found.all().stream().map(row -> row.getInt(0)).collect(Collectors.toSet()));
        same("an index", 5, rows("SELECT id FROM accounts WHERE city = ?", "Turku").size());
        var named = SimpleStatement.newInstance("SELECT owner FROM accounts WHERE id = :id", Map.of("id", 3));
        same("a value by its name", "owner 3", session.execute(named).one().getString(0));
    }

    private void keyspaces() {
        try (var other = connect("", "none", "")) {
            refused("no keyspace", InvalidQueryException.class, "No keyspace has been specified",
                    () -> other.execute("SELECT * FROM accounts"));
            other.execute("USE " + KEYSPACE);
            same("USE", Optional.of(CqlIdentifier.fromCql(KEYSPACE)), other.getKeyspace());
            same("counted", 5L, other.execute("SELECT count(*) FROM accounts").one().getLong(0));
            refused("no such keyspace", InvalidQueryException.class, "nowhere", () -> other.execute("USE nowhere"));
        }
    }

    private void batches() {
        var insert = session.prepare("INSERT INTO accounts (id, owner) VALUES (?, ?)");
        for (var kind : List.of(DefaultBatchType.LOGGED, DefaultBatchType.UNLOGGED)) {
            session.execute(BatchStatement.newInstance(kind, insert.bind(10, kind.name()),
                    SimpleStatement.newInstance("INSERT INTO accounts (id, owner) VALUES (?, ?)", 11, "values")));
            same("a batch, " + kind, List.of("[owner:'" + kind.name() + "']", "[owner:'values']"),
                    rows("SELECT owner FROM accounts WHERE id IN (10, 11)").stream().sorted().toList());
        }
        session.execute("UPDATE counts SET n = n + 5 WHERE id = 'a'");
        var less = SimpleStatement.newInstance("UPDATE counts SET n = n - 2 WHERE id = 'a'");
        session.execute(BatchStatement.newInstance(BatchType.COUNTER, less));
        same("a counter", List.of("[id:'a', n:3]"), rows("SELECT * FROM counts"));
        refused("a counter in a batch of others", InvalidQueryException.class, "counter",
                () -> session.execute(BatchStatement.newInstance(BatchType.LOGGED, less)));
    }

    private void conditions() {
        var insert = "INSERT INTO accounts (id, owner, city) VALUES (20, ?, 'Turku') IF NOT EXISTS";
        same("a row that was not there", true, session.execute(insert, "ada").wasApplied());
        same("one that was", List.of("[\"[applied]\":false, id:20, city:'Turku', owner:'ada']"), rows(insert, "bob"));
        var update = "UPDATE accounts SET owner = ? WHERE id = 20 IF owner = ?";
        same("another owner", List.of("[\"[applied]\":false, owner:'ada']"), rows(update, "eve", "mallory"));
        same("the owner", List.of("[\"[applied]\":true]"), rows(update, "eve", "ada"));
    }

    /** Writes all the numbers, several batches at a time. */
    private void fill() {
        var insert = session.prepare("INSERT INTO numbers (part, number, square) VALUES (?, ?, ?)");
        var writing = new ArrayDeque<CompletionStage<?>>();
        for (var start = 0; start < ROWS_EACH; start += 100) {
            for (var part = 0; part < PARTITIONS; part++) {
                var batch = BatchStatement.builder(BatchType.UNLOGGED);
                for (var number = start; number < start + 100; number++) {
                    batch.addStatement(insert.bind(part, number, (long) number * number));
                }
                writing.add(session.executeAsync(batch.build()));
                if (writing.size() > 32) {
                    writing.remove().toCompletableFuture().join();
                }
            }
        }
        writing.forEach(one -> one.toCompletableFuture().join());
    }

    private void paging() {
        var next = new int[PARTITIONS];
        var found = session.execute("SELECT part, number, square FROM numbers");
        long rows = 0;
        long sum = 0;
        for (var row : found) {
            if (row.getInt(1) != next[row.getInt(0)]++) {
                throw new AssertionError("a row out of order: " + row.getFormattedContents());
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
        var pages = found.getExecutionInfos().size() - PARTITIONS * ROWS_EACH / PAGE_SIZE;
        same("pages", true, pages == 0 || pages == 1);
        var few = SimpleStatement.newInstance("SELECT number FROM numbers WHERE part = 7").setPageSize(10);
        var state = session.execute(few).getExecutionInfo().getSafePagingState();
        same("the next page", 10, session.execute(few.setPagingState(state)).one().getInt(0));
    }

    private void tokenRanges() {
        var select = session.prepare("SELECT DISTINCT part FROM numbers WHERE token(part) > ? AND token(part) <= ?");
        var seen = new HashSet<Integer>();
        for (var range : session.getMetadata().getTokenMap().orElseThrow().getTokenRanges()) {
            for (var part : range.splitEvenly(8)) {
                for (var unwrapped : part.unwrap()) {
                    var bound = select.boundStatementBuilder().setToken(0, unwrapped.getStart());
                    // The last range ends with the lowest token, which stands for the end of them all.
                    for (var row : session.execute(bound.setToken(1, unwrapped.getEnd()).build())) {
                        same("partition " + row.getInt(0) + " once", true, seen.add(row.getInt(0)));
                    }
                }
            }
        }
        same("all partitions, by their tokens", PARTITIONS, seen.size());
    }

    private KeyspaceMetadata keyspace() {
        return session.getMetadata().getKeyspace(KEYSPACE).orElseThrow();
    }

    private void schemaRead() {
        var posts = keyspace().getTable("posts").orElseThrow();
        same("the partition key", "[author, year]",
                posts.getPartitionKey().stream().map(column -> column.getName()).toList().toString());
        same("the clustering", "[written DESC]", posts.getClusteringColumns().entrySet().stream()
                .map(column -> column.getKey().getName() + " " + column.getValue()).toList().toString());
        same("a static column", true, posts.getColumn("motto").orElseThrow().isStatic());
        var index = keyspace().getTable("accounts").flatMap(table -> table.getIndex("by_city")).orElseThrow();
        same("an index", "city", index.getTarget());
        same("a type", "[street, number]",
                keyspace().getUserDefinedType("address").orElseThrow().getFieldNames().toString());
    }

    private int columnsOf(String table) {
        return keyspace().getTable(table).map(TableMetadata::getColumns).map(Map::size).orElse(0);
    }

    private void schemaEvents() throws Exception {
        try (var other = connect("", "none", KEYSPACE)) {
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
        // Before version 5 the driver is not told, and keeps the columns that it was told of first.
        var isTold = session.getContext().getProtocolVersion().getCode() >= 5;
        same("after", isTold ? 4 : 3, session.execute(select.bind()).getColumnDefinitions().size());
    }
}
