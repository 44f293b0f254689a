package scenario;

import com.google.common.collect.ImmutableMap;
import com.netflix.astyanax.AstyanaxContext;
import com.netflix.astyanax.Cluster;
import com.netflix.astyanax.Keyspace;
import com.netflix.astyanax.annotations.Component;
import com.netflix.astyanax.connectionpool.NodeDiscoveryType;
import com.netflix.astyanax.connectionpool.exceptions.BadRequestException;
import com.netflix.astyanax.connectionpool.exceptions.ConnectionException;
import com.netflix.astyanax.connectionpool.exceptions.NotFoundException;
import com.netflix.astyanax.connectionpool.impl.ConnectionPoolConfigurationImpl;
import com.netflix.astyanax.connectionpool.impl.ConnectionPoolType;
import com.netflix.astyanax.connectionpool.impl.CountingConnectionPoolMonitor;
import com.netflix.astyanax.ddl.ColumnDefinition;
import com.netflix.astyanax.ddl.ColumnFamilyDefinition;
import com.netflix.astyanax.impl.AstyanaxConfigurationImpl;
import com.netflix.astyanax.model.ColumnFamily;
import com.netflix.astyanax.model.ColumnList;
import com.netflix.astyanax.model.ColumnPath;
import com.netflix.astyanax.model.ColumnSlice;
import com.netflix.astyanax.model.ColumnType;
import com.netflix.astyanax.model.Row;
import com.netflix.astyanax.model.Rows;
import com.netflix.astyanax.serializers.AnnotatedCompositeSerializer;
import com.netflix.astyanax.serializers.LongSerializer;
import com.netflix.astyanax.serializers.StringSerializer;
import com.netflix.astyanax.thrift.ThriftFamilyFactory;
import com.netflix.astyanax.util.RangeBuilder;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

/** A cinema on Astyanax: it creates its schema, then shows, sells, counts and forgets. */
public final class Cinema {
    private static final StringSerializer TEXT = StringSerializer.get();
    private static final ColumnFamily<String, String> FILMS = new ColumnFamily<>("Films", TEXT, TEXT);
    private static final ColumnFamily<String, Long> SEATS = new ColumnFamily<>("Seats", TEXT, LongSerializer.get());
    private static final ColumnFamily<String, String> TICKETS = new ColumnFamily<>("Tickets", TEXT, TEXT);
    private static final AnnotatedCompositeSerializer<Showing> SHOWING =
            new AnnotatedCompositeSerializer<>(Showing.class);
    private static final ColumnFamily<String, Showing> PROGRAMME = new ColumnFamily<>("Programme", TEXT, SHOWING);
    private static final ColumnFamily<String, String> REVIEWS =
            new ColumnFamily<>("Reviews", TEXT, TEXT, ColumnType.SUPER);

    private static int checks;

    private final String name =
            "Cinema" + Long.toHexString(ThreadLocalRandom.current().nextLong() >>> 16);
    private final String host;
    private final int port;
    private Cluster cluster;
    private Keyspace keyspace;
    private long expires;

    /** A composite name: its fields are the components, in this order. */
    public static final class Showing {
        @Component(ordinal = 0)
        String room;

        @Component(ordinal = 1)
        Long hour;

        public Showing() {}

        Showing(String room, long hour) {
            this.room = room;
            this.hour = hour;
        }

        @Override
        public String toString() {
            return room + hour;
        }
    }

    private interface Call {
        Object run() throws ConnectionException;
    }

    private Cinema(String host, int port) {
        this.host = host;
        this.port = port;
    }

    public static void main(String[] arguments) {
        var status = 1;
        try {
            new Cinema(arguments[0], Integer.parseInt(arguments[1])).run();
            status = 0;
        } catch (Throwable failure) {
            failure.printStackTrace();
        }
        System.out.println(checks + " checks");
        System.exit(status);
    }

    private static void check(String what, Object found, Object expected) {
        checks++;
        if (!Objects.equals(found, expected)) {
            throw new AssertionError(what + ": expected " + expected + ", found " + found);
        }
    }

    private static void refused(String what, Class<? extends ConnectionException> kind, Call call)
            throws ConnectionException {
        try {
            call.run();
        } catch (ConnectionException error) {
            if (!kind.isInstance(error)) {
                throw error;
            }
            checks++;
            return;
        }
        throw new AssertionError(what + ": expected " + kind.getSimpleName());
    }

    private AstyanaxContext.Builder context() {
        var pool = new ConnectionPoolConfigurationImpl("scenario")
                .setPort(port)
                .setMaxConnsPerHost(2)
                .setSeeds(host + ":" + port);
        var settings = new AstyanaxConfigurationImpl()
                .setDiscoveryType(NodeDiscoveryType.NONE)
                .setConnectionPoolType(ConnectionPoolType.ROUND_ROBIN);
        return new AstyanaxContext.Builder()
                .forCluster("scenario")
                .withAstyanaxConfiguration(settings)
                .withConnectionPoolConfiguration(pool)
                .withConnectionPoolMonitor(new CountingConnectionPoolMonitor());
    }

    private void run() throws Exception {
        var clusters = context().buildCluster(ThriftFamilyFactory.getInstance());
        clusters.start();
        cluster = clusters.getClient();
        createSchema();
        var keyspaces = context().forKeyspace(name).buildKeyspace(ThriftFamilyFactory.getInstance());
        keyspaces.start();
        keyspace = keyspaces.getClient();
        columns();
        batches();
        paging();
        scan();
        indexes();
        composites();
        superColumns();
        counters();
        expired();
        changeSchema();
        keyspaces.shutdown();
        clusters.shutdown();
    }

    private static <T, U> List<U> each(Iterable<T> things, Function<T, U> what) {
        return StreamSupport.stream(things.spliterator(), false).map(what).toList();
    }

    /** In their order, which getColumnNames does not keep. */
    private static <C> List<C> names(ColumnList<C> columns) {
        return each(columns, column -> column.getName());
    }

    private static <C> List<String> texts(ColumnList<C> columns) {
        return each(columns, column -> column.getName() + "=" + column.getStringValue());
    }

    private static <C> List<String> keys(Rows<String, C> rows) {
        return each(rows, Row<String, C>::getKey).stream().sorted().toList();
    }

    private ColumnFamilyDefinition family(String family, String comparator, String values) {
        return cluster.makeColumnFamilyDefinition()
                .setName(family)
                .setKeyspace(name)
                .setComparatorType(comparator)
                .setKeyValidationClass("UTF8Type")
                .setDefaultValidationClass(values);
    }

    private ColumnDefinition column(String column, String type) {
        return cluster.makeColumnDefinition().setName(column).setValidationClass(type);
    }

    private void createSchema() throws ConnectionException {
        check("a name", cluster.describeClusterName().isEmpty(), false);
        check("a version", cluster.getVersion().split("\\.").length, 3);
        check("one version of the schema", cluster.describeSchemaVersions().size(), 1);
        var films = family("Films", "UTF8Type", "UTF8Type")
                .setComment("what we show")
                .addColumnDefinition(column("country", "UTF8Type").setKeysIndex("by_country"))
                .addColumnDefinition(column("minutes", "LongType"))
                .addColumnDefinition(column("released", "DateType"))
                .addColumnDefinition(column("colour", "BooleanType"))
                .addColumnDefinition(column("stars", "DoubleType"));
        cluster.addKeyspace(cluster.makeKeyspaceDefinition()
                .setName(name)
                .setStrategyClass("SimpleStrategy")
                .setStrategyOptions(ImmutableMap.of("replication_factor", "1"))
                .addColumnFamily(films)
                .addColumnFamily(family("Seats", "LongType", "UTF8Type"))
                .addColumnFamily(family("Programme", "CompositeType(UTF8Type, LongType)", "UTF8Type")));
        cluster.addColumnFamily(family("Tickets", "UTF8Type", "CounterColumnType"));
        cluster.addColumnFamily(family("Reviews", "UTF8Type", "UTF8Type")
                .setFieldValue("COLUMN_TYPE", "Super")
                .setFieldValue("SUBCOMPARATOR_TYPE", "UTF8Type"));
        var described = cluster.describeKeyspace(name);
        check(
                "the column families",
                described.getColumnFamilyList().stream()
                        .map(ColumnFamilyDefinition::getName)
                        .sorted()
                        .toList(),
                List.of("Films", "Programme", "Reviews", "Seats", "Tickets"));
        check("the strategy", described.getStrategyClass(), "org.apache.cassandra.locator.SimpleStrategy");
        check("its option", described.getStrategyOptions().get("replication_factor"), "1");
        var found = described.getColumnFamily("Films");
        check("a comment", found.getComment(), "what we show");
        check(
                "an index",
                found.getColumnDefinitionList().stream()
                        .filter(ColumnDefinition::hasIndex)
                        .map(each -> each.getName() + " " + each.getIndexName())
                        .toList(),
                List.of("country by_country"));
        check(
                "a composite",
                described.getColumnFamily("Programme").getComparatorType(),
                "org.apache.cassandra.db.marshal.CompositeType(org.apache.cassandra.db.marshal.UTF8Type,"
                        + "org.apache.cassandra.db.marshal.LongType)");
    }

    private ColumnList<String> film(String key) throws ConnectionException {
        return keyspace.prepareQuery(FILMS).getKey(key).execute().getResult();
    }

    private void columns() throws ConnectionException {
        check("a partitioner", keyspace.describePartitioner().endsWith("Partitioner"), true);
        var released = new Date(-1_000_000_000_000L);
        var batch = keyspace.prepareMutationBatch();
        batch.withRow(FILMS, "m")
                .putColumn("title", "M")
                .putColumn("country", "de")
                .putColumn("minutes", 117L)
                .putColumn("released", released)
                .putColumn("colour", false)
                .putColumn("stars", 8.3);
        batch.execute();
        var m = film("m");
        check(
                "many types",
                List.of(
                        m.getStringValue("title", ""),
                        m.getLongValue("minutes", 0L),
                        m.getDateValue("released", null),
                        m.getBooleanValue("colour", true),
                        m.getDoubleValue("stars", 0.0)),
                List.of("M", 117L, released, false, 8.3));
        check(
                "in order",
                names(m),
                List.of("colour", "country", "minutes", "released", "stars", "title"));
        check(
                "one",
                keyspace.prepareQuery(FILMS)
                        .getKey("m")
                        .getColumn("title")
                        .execute()
                        .getResult()
                        .getStringValue(),
                "M");
        refused("none", NotFoundException.class, () -> keyspace.prepareQuery(FILMS)
                .getKey("m")
                .getColumn("sequel")
                .execute());
        check(
                "a count",
                keyspace.prepareQuery(FILMS).getKey("m").getCount().execute().getResult(),
                6);
        var range = new RangeBuilder().setStart("country").setEnd("n").build();
        check(
                "a range",
                names(keyspace.prepareQuery(FILMS)
                        .getKey("m")
                        .withColumnRange(range)
                        .execute()
                        .getResult()
                        ),
                List.of("country", "minutes"));
        check(
                "by names",
                texts(keyspace.prepareQuery(FILMS)
                        .getKey("m")
                        .withColumnSlice("title", "country", "x")
                        .execute()
                        .getResult()),
                List.of("country=de", "title=M"));

        keyspace.prepareColumnMutation(FILMS, "m", "note")
                .putValue("tonight", 2)
                .execute();
        expires = System.currentTimeMillis() + 3200;
        check("a time to live", film("m").getColumnByName("note").getTtl(), 2);
        keyspace.prepareColumnMutation(FILMS, "m", "stars").deleteColumn().execute();
        check("without one", film("m").getColumnByName("stars"), null);
        refused("three bytes are no long", BadRequestException.class, () -> keyspace.prepareColumnMutation(
                        FILMS, "m", "minutes")
                .putValue("abc", null)
                .execute());
    }

    private static String number(int number) {
        return String.format("film%03d", number);
    }

    private void batches() throws ConnectionException {
        var batch = keyspace.prepareMutationBatch().withAtomicBatch(true);
        for (var number = 0; number < 120; number++) {
            batch.withRow(FILMS, number(number))
                    .putColumn("title", "Film " + number)
                    .putColumn("country", number % 10 == 0 ? "it" : "fr")
                    .putColumn("minutes", (long) number);
        }
        batch.execute();
        var rows = keyspace.prepareQuery(FILMS)
                .getKeySlice("film003", "film110", "nothing")
                .withColumnSlice("country", "title")
                .execute()
                .getResult();
        check("rows", texts(rows.getRow("film110").getColumns()), List.of("country=it", "title=Film 110"));
        check(
                "and none",
                rows.getRow("nothing") == null
                        || rows.getRow("nothing").getColumns().isEmpty(),
                true);
        batch.withRow(FILMS, "film119").delete();
        batch.withRow(FILMS, "film118").deleteColumn("title").putColumn("note", "lost");
        batch.execute();
        check("a row that is gone", film("film119").isEmpty(), true);
        check(
                "a column less and one more",
                names(film("film118")),
                List.of("country", "minutes", "note"));
    }

    private void paging() throws ConnectionException {
        var batch = keyspace.prepareMutationBatch();
        for (var seat = -100L; seat < 150; seat++) {
            batch.withRow(SEATS, "hall").putColumn(seat, "seat " + seat);
        }
        batch.execute();
        var query = keyspace.prepareQuery(SEATS)
                .getKey("hall")
                .autoPaginate(true)
                .withColumnRange(new RangeBuilder().setLimit(40).build());
        var seats = new ArrayList<Long>();
        for (var page = query.execute().getResult();
                !page.isEmpty();
                page = query.execute().getResult()) {
            seats.addAll(names(page));
        }
        check(
                "each seat once, in order",
                seats,
                each(() -> IntStream.range(-100, 150).iterator(), Integer::longValue));
        check(
                "backwards",
                each(
                        keyspace.prepareQuery(SEATS)
                                .getKey("hall")
                                .withColumnSlice(new ColumnSlice<>(10L, null)
                                        .setReversed(true)
                                        .setLimit(3))
                                .execute()
                                .getResult(),
                        column -> column.getName()),
                List.of(10L, 9L, 8L));
    }

    private void scan() throws ConnectionException {
        var rows = keyspace.prepareQuery(FILMS)
                .getAllRows()
                .setBlockSize(25)
                .withColumnSlice("title")
                .execute()
                .getResult();
        var found = each(rows, row -> row).stream()
                .filter(row -> !row.getColumns().isEmpty())
                .map(Row::getKey)
                .sorted();
        var expected =
                new ArrayList<>(IntStream.range(0, 118).mapToObj(Cinema::number).toList());
        expected.add("m");
        check("every row once", found.toList(), expected);
        var ring = keyspace.describeRing();
        check("one range", ring.size(), 1);
        var page = keyspace.prepareQuery(FILMS)
                .getKeyRange(
                        null, null, ring.get(0).getStartToken(), ring.get(0).getEndToken(), 10)
                .execute()
                .getResult();
        check("a range of tokens", page.size(), 10);
    }

    private void indexes() throws ConnectionException {
        var query = keyspace.prepareQuery(FILMS)
                .searchWithIndex()
                .setRowLimit(100)
                .addExpression()
                .whereColumn("country")
                .equals()
                .value("it");
        check(
                "by country",
                keys(query.execute().getResult()),
                IntStream.range(0, 12).mapToObj(each -> number(10 * each)).toList());
        query.addExpression().whereColumn("minutes").greaterThan().value(80L);
        check("and length", keys(query.execute().getResult()), List.of("film090", "film100", "film110"));
        keyspace.prepareColumnMutation(FILMS, "film100", "country")
                .putValue("de", null)
                .execute();
        check("after a change", keys(query.execute().getResult()), List.of("film090", "film110"));
        refused("without an index", BadRequestException.class, () -> keyspace.prepareQuery(FILMS)
                .searchWithIndex()
                .addExpression()
                .whereColumn("minutes")
                .equals()
                .value(80L)
                .execute());
    }

    private void composites() throws ConnectionException {
        var batch = keyspace.prepareMutationBatch();
        batch.withRow(PROGRAMME, "monday")
                .putColumn(new Showing("red", 20), "M")
                .putColumn(new Showing("blue", 9), "Film 1")
                .putColumn(new Showing("blue", 22), "Film 2")
                .putColumn(new Showing("blue", 100), "Film 3");
        batch.execute();
        var query = keyspace.prepareQuery(PROGRAMME).getKey("monday");
        check(
                "in the order of their parts",
                texts(query.execute().getResult()),
                List.of("blue9=Film 1", "blue22=Film 2", "blue100=Film 3", "red20=M"));
        check(
                "a beginning and a range",
                texts(query.withColumnRange(SHOWING.buildRange()
                                .withPrefix("blue")
                                .greaterThan(9L)
                                .lessThanEquals(22L))
                        .execute()
                        .getResult()),
                List.of("blue22=Film 2"));
    }

    @SuppressWarnings("deprecation")
    private void superColumns() throws ConnectionException {
        var batch = keyspace.prepareMutationBatch();
        batch.withRow(REVIEWS, "m")
                .withSuperColumn(path("ada"))
                .putColumn("text", "Dark.")
                .putColumn("stars", "5");
        batch.withRow(REVIEWS, "m").withSuperColumn(path("bob")).putColumn("text", "Long.");
        batch.execute();
        var found = keyspace.prepareQuery(REVIEWS).getKey("m").execute().getResult();
        check(
                "super columns",
                each(found, column -> column.getName() + texts(column.getSubColumns(TEXT))),
                List.of("ada[stars=5, text=Dark.]", "bob[text=Long.]"));
        batch.withRow(REVIEWS, "m").withSuperColumn(path("ada")).deleteColumn("stars");
        batch.withRow(REVIEWS, "m").withSuperColumn(path("bob")).delete();
        batch.execute();
        found = keyspace.prepareQuery(REVIEWS).getKey("m").execute().getResult();
        check(
                "after removals",
                each(found, column -> column.getName() + texts(column.getSubColumns(TEXT))),
                List.of("ada[text=Dark.]"));
    }

    private static ColumnPath<String> path(String superColumn) {
        return new ColumnPath<>(TEXT).append(superColumn, TEXT);
    }

    private void counters() throws ConnectionException {
        var batch = keyspace.prepareMutationBatch();
        batch.withRow(TICKETS, "m").incrementCounterColumn("sold", 5).incrementCounterColumn("free", 1);
        batch.execute();
        keyspace.prepareColumnMutation(TICKETS, "m", "sold")
                .incrementCounterColumn(-2)
                .execute();
        check(
                "sums",
                each(
                        keyspace.prepareQuery(TICKETS).getKey("m").execute().getResult(),
                        column -> column.getName() + "=" + column.getLongValue()),
                List.of("free=1", "sold=3"));
        keyspace.prepareColumnMutation(TICKETS, "m", "free")
                .deleteCounterColumn()
                .execute();
        check(
                "without one",
                keyspace.prepareQuery(TICKETS).getKey("m").getCount().execute().getResult(),
                1);
        refused("a column of those who count", BadRequestException.class, () -> keyspace.prepareColumnMutation(
                        TICKETS, "m", "sold")
                .putValue("1", null)
                .execute());
    }

    private void expired() throws Exception {
        Thread.sleep(Math.max(0, expires - System.currentTimeMillis()));
        check("what has expired", film("m").getColumnByName("note"), null);
    }

    private void changeSchema() throws ConnectionException {
        var films = cluster.describeKeyspace(name)
                .getColumnFamily("Films")
                .setComment("what we have shown")
                .addColumnDefinition(column("note", "UTF8Type").setKeysIndex("by_note"));
        cluster.updateColumnFamily(films);
        var found = cluster.describeKeyspace(name).getColumnFamily("Films");
        check(
                "a change",
                found.getComment() + " " + found.getColumnDefinitionList().size(),
                "what we have shown 6");
        keyspace.truncateColumnFamily(FILMS);
        check("nothing left", film("m").isEmpty(), true);
        cluster.dropColumnFamily(name, "Seats");
        check("a column family less", cluster.describeKeyspace(name).getColumnFamily("Seats"), null);
        cluster.dropKeyspace(name);
        check(
                "the keyspace is gone",
                cluster.describeKeyspaces().stream()
                        .anyMatch(each -> each.getName().equals(name)),
                false);
    }
}
