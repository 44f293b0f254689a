package scenario;

import static me.prettyprint.hector.api.factory.HFactory.createColumn;
import static me.prettyprint.hector.api.factory.HFactory.createColumnFamilyDefinition;
import static me.prettyprint.hector.api.factory.HFactory.createMutator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import me.prettyprint.cassandra.model.BasicColumnDefinition;
import me.prettyprint.cassandra.model.BasicColumnFamilyDefinition;
import me.prettyprint.cassandra.serializers.CompositeSerializer;
import me.prettyprint.cassandra.serializers.LongSerializer;
import me.prettyprint.cassandra.serializers.StringSerializer;
import me.prettyprint.cassandra.service.CassandraHostConfigurator;
import me.prettyprint.cassandra.service.ThriftCfDef;
import me.prettyprint.cassandra.service.ThriftKsDef;
import me.prettyprint.cassandra.service.template.ThriftColumnFamilyTemplate;
import me.prettyprint.cassandra.service.template.ThriftSuperCfTemplate;
import me.prettyprint.hector.api.Cluster;
import me.prettyprint.hector.api.Keyspace;
import me.prettyprint.hector.api.beans.AbstractComposite.ComponentEquality;
import me.prettyprint.hector.api.beans.ColumnSlice;
import me.prettyprint.hector.api.beans.Composite;
import me.prettyprint.hector.api.beans.HColumn;
import me.prettyprint.hector.api.beans.HCounterColumn;
import me.prettyprint.hector.api.beans.HSuperColumn;
import me.prettyprint.hector.api.ddl.ColumnFamilyDefinition;
import me.prettyprint.hector.api.ddl.ColumnIndexType;
import me.prettyprint.hector.api.ddl.ColumnType;
import me.prettyprint.hector.api.ddl.ComparatorType;
import me.prettyprint.hector.api.exceptions.HInvalidRequestException;
import me.prettyprint.hector.api.exceptions.HectorException;
import me.prettyprint.hector.api.factory.HFactory;

/** A bookshop on Hector: it creates its schema, then stocks, sells, counts and forgets. */
public final class Shop {
    private static final StringSerializer TEXT = StringSerializer.get();
    private static final LongSerializer LONG = LongSerializer.get();

    private static int checks;

    private final Cluster cluster;
    private final String name =
            "Shop" + Long.toHexString(ThreadLocalRandom.current().nextLong() >>> 16);
    private Keyspace keyspace;
    private long expires;

    private Shop(Cluster cluster) {
        this.cluster = cluster;
    }

    public static void main(String[] arguments) {
        var status = 1;
        var hosts = new CassandraHostConfigurator(arguments[0] + ":" + arguments[1]);
        hosts.setMaxActive(4);
        hosts.setRetryDownedHosts(false);
        var cluster = HFactory.getOrCreateCluster("scenario", hosts);
        try {
            new Shop(cluster).run();
            status = 0;
        } catch (Throwable failure) {
            failure.printStackTrace();
        }
        System.out.println(checks + " checks");
        System.exit(status);
    }

    private void run() throws InterruptedException {
        createSchema();
        columns();
        batches();
        ranges();
        indexes();
        superColumns();
        counters();
        composites();
        expired();
        changeSchema();
    }

    private static void check(String what, Object found, Object expected) {
        checks++;
        if (!Objects.equals(found, expected)) {
            throw new AssertionError(what + ": expected " + expected + ", found " + found);
        }
    }

    private static void refused(String what, Class<? extends HectorException> kind, Runnable call) {
        try {
            call.run();
        } catch (HectorException error) {
            check(what, error.getClass(), kind);
            return;
        }
        throw new AssertionError(what + ": expected " + kind.getSimpleName());
    }

    private static <N, V> List<String> texts(List<HColumn<N, V>> columns) {
        return columns.stream()
                .map(column -> column.getName() + "=" + column.getValue())
                .toList();
    }

    private BasicColumnFamilyDefinition family(String family, ComparatorType comparator, String values) {
        var definition = new BasicColumnFamilyDefinition();
        definition.setKeyspaceName(name);
        definition.setName(family);
        definition.setComparatorType(comparator);
        definition.setKeyValidationClass(ComparatorType.UTF8TYPE.getClassName());
        definition.setDefaultValidationClass(values);
        return definition;
    }

    private static BasicColumnDefinition column(String name, ComparatorType type, String index) {
        var column = new BasicColumnDefinition();
        column.setName(TEXT.toByteBuffer(name));
        column.setValidationClass(type.getClassName());
        if (index != null) {
            column.setIndexType(ColumnIndexType.KEYS);
            column.setIndexName(index);
        }
        return column;
    }

    private ColumnFamilyDefinition described(String family) {
        return cluster.describeKeyspace(name).getCfDefs().stream()
                .filter(each -> each.getName().equals(family))
                .findFirst()
                .orElse(null);
    }

    private void createSchema() {
        check("a name", cluster.describeClusterName().isEmpty(), false);
        check("a version", cluster.describeThriftVersion().split("\\.").length, 3);
        check("a partitioner", cluster.describePartitioner().endsWith("Partitioner"), true);
        var text = ComparatorType.UTF8TYPE;
        var books = family("Books", text, text.getClassName());
        books.addColumnDefinition(column("genre", text, "by_genre"));
        books.addColumnDefinition(column("pages", ComparatorType.LONGTYPE, null));
        var reviews = createColumnFamilyDefinition(name, "Reviews", text);
        reviews.setColumnType(ColumnType.SUPER);
        reviews.setSubComparatorType(text);
        var definition = HFactory.createKeyspaceDefinition(
                name, ThriftKsDef.DEF_STRATEGY_CLASS, 1, List.of(new ThriftCfDef(books), reviews));
        check("the schema has a version", cluster.addKeyspace(definition, true).isEmpty(), false);
        refused("a keyspace that is there", HInvalidRequestException.class, () -> cluster.addKeyspace(definition));

        cluster.addColumnFamily(family("Sales", text, ComparatorType.COUNTERTYPE.getClassName()), true);
        var shelves = family("Shelves", ComparatorType.COMPOSITETYPE, text.getClassName());
        shelves.setComparatorTypeAlias("(UTF8Type, LongType)");
        cluster.addColumnFamily(shelves, true);
        check(
                "the column families",
                cluster.describeKeyspace(name).getCfDefs().stream()
                        .map(ColumnFamilyDefinition::getName)
                        .sorted()
                        .toList(),
                List.of("Books", "Reviews", "Sales", "Shelves"));
        check("a super column family", described("Reviews").getColumnType(), ColumnType.SUPER);
        check("a comparator", described("Books").getComparatorType(), text);
        check(
                "an index",
                described("Books").getColumnMetadata().stream()
                        .filter(each -> each.getIndexType() != null)
                        .map(each -> each.getIndexName())
                        .toList(),
                List.of("by_genre"));
        check(
                "the type of keys",
                described("Books").getKeyValidationClass(),
                "org.apache.cassandra.db.marshal.UTF8Type");
        keyspace = HFactory.createKeyspace(name, cluster);
    }

    private List<String> row(String key) {
        return texts(slice(key, "", "", false, 100).getColumns());
    }

    private ColumnSlice<String, String> slice(String key, String start, String finish, boolean reversed, int count) {
        return HFactory.createSliceQuery(keyspace, TEXT, TEXT, TEXT)
                .setColumnFamily("Books")
                .setKey(key)
                .setRange(start, finish, reversed, count)
                .execute()
                .get();
    }

    private void columns() {
        var template = new ThriftColumnFamilyTemplate<>(keyspace, "Books", TEXT, TEXT);
        var updater = template.createUpdater("emma");
        updater.setString("title", "Emma");
        updater.setString("author", "Austen");
        updater.setLong("pages", 474L);
        updater.setString("genre", "novel");
        template.update(updater);
        var found = template.queryColumns("emma");
        check("a row", found.getString("title") + found.getLong("pages"), "Emma474");
        check("its names", List.copyOf(found.getColumnNames()), List.of("author", "genre", "pages", "title"));
        check(
                "there or not",
                List.of(template.isColumnsExist("emma"), template.isColumnsExist("nobody")),
                List.of(true, false));
        check("a count", template.countColumns("emma"), 4);

        var mutator = createMutator(keyspace, TEXT);
        mutator.insert("emma", "Books", createColumn("title", "older", 1L, TEXT, TEXT));
        var title = HFactory.createStringColumnQuery(keyspace)
                .setColumnFamily("Books")
                .setKey("emma");
        check("the newer of two writes", title.setName("title").execute().get().getValue(), "Emma");
        check("no such column", title.setName("isbn").execute().get(), null);
        check(
                "a range",
                texts(slice("emma", "a", "h", false, 10).getColumns()),
                List.of("author=Austen", "genre=novel"));
        check("backwards", texts(slice("emma", "h", "", true, 1).getColumns()), List.of("genre=novel"));
        template.deleteColumn("emma", "author");
        check("without a column", template.countColumns("emma"), 3);

        mutator.insert("emma", "Books", createColumn("note", "reduced", keyspace.createClock(), 2, TEXT, TEXT));
        expires = System.currentTimeMillis() + 3200;
        check("a time to live", title.setName("note").execute().get().getTtl(), 2);
        refused(
                "three bytes are no long",
                HInvalidRequestException.class,
                () -> mutator.insert("emma", "Books", createColumn("pages", "abc", TEXT, TEXT)));
        refused(
                "no such column family",
                HInvalidRequestException.class,
                () -> mutator.insert("emma", "Nowhere", createColumn("a", "b", TEXT, TEXT)));
    }

    private static String book(int number) {
        return String.format("book%02d", number);
    }

    private void batches() {
        var mutator = createMutator(keyspace, TEXT);
        for (var number = 0; number < 30; number++) {
            mutator.addInsertion(book(number), "Books", createColumn("title", "Book " + number, TEXT, TEXT))
                    .addInsertion(
                            book(number),
                            "Books",
                            createColumn("genre", number % 3 == 0 ? "poems" : "plays", TEXT, TEXT))
                    .addInsertion(book(number), "Books", createColumn("pages", 100L + number, TEXT, LONG));
        }
        check("a batch of as many rows", mutator.getPendingMutationCount(), 30);
        mutator.execute();
        var many = HFactory.createMultigetSliceQuery(keyspace, TEXT, TEXT, TEXT)
                .setColumnFamily("Books")
                .setKeys("book01", "book03", "nobody")
                .setColumnNames("title", "genre")
                .execute()
                .get();
        check(
                "rows",
                texts(many.getByKey("book03").getColumnSlice().getColumns()),
                List.of("genre=poems", "title=Book 3"));
        check("and none", texts(many.getByKey("nobody").getColumnSlice().getColumns()), List.of());
        mutator.addDeletion("book29", "Books").addDeletion("book28", "Books", "title", TEXT);
        mutator.addInsertion("book28", "Books", createColumn("note", "worn", TEXT, TEXT))
                .execute();
        check("a row that is gone", row("book29"), List.of());
        check(
                "a column less and one more",
                slice("book28", "", "", false, 9).getColumns().stream()
                        .map(HColumn::getName)
                        .toList(),
                List.of("genre", "note", "pages"));
    }

    private void ranges() {
        var query = HFactory.createRangeSlicesQuery(keyspace, TEXT, TEXT, TEXT)
                .setColumnFamily("Books")
                .setColumnNames("title", "genre")
                .setRowCount(11);
        var seen = new TreeMap<String, Integer>();
        var start = "";
        while (true) {
            var rows = query.setKeys(start, "").execute().get();
            rows.forEach(row ->
                    seen.put(row.getKey(), row.getColumnSlice().getColumns().size()));
            if (rows.getCount() < 11) {
                break;
            }
            start = rows.peekLast().getKey();
        }
        var expected = new TreeMap<>(IntStream.range(0, 28).boxed().collect(Collectors.toMap(Shop::book, number -> 2)));
        expected.putAll(Map.of("book28", 1, "emma", 2));
        check("a row that is gone may show, without columns", Objects.requireNonNullElse(seen.remove("book29"), 0), 0);
        check("all rows", seen, expected);
    }

    private List<String> thick(long pages) {
        var rows = HFactory.createIndexedSlicesQuery(keyspace, TEXT, TEXT, LONG)
                .setColumnFamily("Books")
                .setColumnNames("pages")
                .addGtExpression("pages", pages)
                .setStartKey("")
                .execute()
                .get();
        return rows.getList().stream().map(row -> row.getKey()).toList();
    }

    private void indexes() {
        var mutator = createMutator(keyspace, TEXT);
        var query = HFactory.createIndexedSlicesQuery(keyspace, TEXT, TEXT, TEXT)
                .setColumnFamily("Books")
                .setColumnNames("title")
                .addEqualsExpression("genre", "poems")
                .setStartKey("")
                .setRowCount(100);
        check(
                "poems",
                query.execute().get().getList().stream()
                        .map(row -> row.getKey())
                        .sorted()
                        .toList(),
                IntStream.range(0, 10).mapToObj(number -> book(3 * number)).toList());
        mutator.addInsertion("book06", "Books", createColumn("genre", "plays", TEXT, TEXT))
                .addDeletion("book09", "Books");
        mutator.execute();
        check(
                "after changes",
                query.execute().get().getList().stream()
                        .map(row -> row.getKey())
                        .sorted()
                        .toList(),
                IntStream.of(0, 3, 12, 15, 18, 21, 24, 27).mapToObj(Shop::book).toList());
        refused("without an index", HInvalidRequestException.class, () -> thick(120));
    }

    private void superColumns() {
        var mutator = createMutator(keyspace, TEXT);
        mutator.addInsertion("emma", "Reviews", review("ada", "text", "Good.", "stars", "5"));
        mutator.addInsertion("emma", "Reviews", review("bob", "text", "Long.", "stars", "2"));
        mutator.addInsertion("emma", "Reviews", review("cyd", "text", "Read it."))
                .execute();
        var query = HFactory.createSuperSliceQuery(keyspace, TEXT, TEXT, TEXT, TEXT)
                .setColumnFamily("Reviews")
                .setKey("emma")
                .setRange("", "", false, 10);
        check(
                "super columns",
                reviews(query.execute().get().getSuperColumns()),
                List.of("ada[stars=5, text=Good.]", "bob[stars=2, text=Long.]", "cyd[text=Read it.]"));
        var template = new ThriftSuperCfTemplate<>(keyspace, "Reviews", TEXT, TEXT, TEXT);
        check("one of them", template.querySuperColumn("emma", "bob").getString("text"), "Long.");
        var inner = HFactory.createSubSliceQuery(keyspace, TEXT, TEXT, TEXT, TEXT)
                .setColumnFamily("Reviews")
                .setKey("emma")
                .setSuperColumn("ada")
                .setRange("t", "", false, 10);
        check("a range in one", texts(inner.execute().get().getColumns()), List.of("text=Good."));
        mutator.superDelete("emma", "Reviews", "bob", TEXT);
        mutator.subDelete("emma", "Reviews", "ada", "stars", TEXT, TEXT);
        check(
                "after removals",
                reviews(query.execute().get().getSuperColumns()),
                List.of("ada[text=Good.]", "cyd[text=Read it.]"));
        check(
                "a count",
                HFactory.createSuperCountQuery(keyspace, TEXT, TEXT)
                        .setColumnFamily("Reviews")
                        .setKey("emma")
                        .setRange("", "", 100)
                        .execute()
                        .get(),
                2);
    }

    private static HSuperColumn<String, String, String> review(String by, String... fields) {
        var columns = new ArrayList<HColumn<String, String>>();
        for (var place = 0; place < fields.length; place += 2) {
            columns.add(createColumn(fields[place], fields[place + 1], TEXT, TEXT));
        }
        return HFactory.createSuperColumn(by, columns, TEXT, TEXT, TEXT);
    }

    private static List<String> reviews(List<HSuperColumn<String, String, String>> columns) {
        return columns.stream()
                .map(each -> each.getName() + texts(each.getColumns()))
                .toList();
    }

    private void counters() {
        var mutator = createMutator(keyspace, TEXT);
        mutator.incrementCounter("emma", "Sales", "sold", 5);
        mutator.decrementCounter("emma", "Sales", "sold", 2);
        mutator.addCounter("emma", "Sales", HFactory.createCounterColumn("sold", 10L))
                .addCounter("emma", "Sales", HFactory.createCounterColumn("lent", 1L))
                .execute();
        var sums = HFactory.createCounterSliceQuery(keyspace, TEXT, TEXT)
                .setColumnFamily("Sales")
                .setKey("emma")
                .setRange("", "", false, 10);
        check("sums", counted(sums.execute().get().getColumns()), List.of("lent=1", "sold=13"));
        check(
                "one sum",
                HFactory.createCounterColumnQuery(keyspace, TEXT, TEXT)
                        .setColumnFamily("Sales")
                        .setKey("emma")
                        .setName("sold")
                        .execute()
                        .get()
                        .getValue(),
                13L);
        mutator.deleteCounter("emma", "Sales", "lent", TEXT);
        check("without one", counted(sums.execute().get().getColumns()), List.of("sold=13"));
        refused(
                "a column of those who count",
                HInvalidRequestException.class,
                () -> mutator.insert("emma", "Sales", createColumn("sold", "1", TEXT, TEXT)));
    }

    private static List<String> counted(List<HCounterColumn<String>> columns) {
        return columns.stream()
                .map(each -> each.getName() + "=" + each.getValue())
                .toList();
    }

    private static Composite place(String shelf, long number, ComponentEquality equality) {
        var place = new Composite();
        place.addComponent(0, shelf, number < 0 ? equality : ComponentEquality.EQUAL);
        if (number >= 0) {
            place.addComponent(1, number, equality);
        }
        return place;
    }

    private void composites() {
        var mutator = createMutator(keyspace, TEXT);
        var names = new CompositeSerializer();
        for (var place : Arrays.asList(
                new Composite("b", 2L), new Composite("a", 300L), new Composite("b", 1L), new Composite("a", 7L))) {
            mutator.addInsertion("emma", "Shelves", createColumn(place, "here", names, TEXT));
        }
        mutator.execute();
        var query = HFactory.createSliceQuery(keyspace, TEXT, names, TEXT)
                .setColumnFamily("Shelves")
                .setKey("emma");
        check(
                "in the order of their parts",
                places(query.setRange(null, null, false, 10).execute().get()),
                List.of("a7", "a300", "b1", "b2"));
        var start = place("a", -1, ComponentEquality.EQUAL);
        var end = place("a", -1, ComponentEquality.GREATER_THAN_EQUAL);
        check(
                "those with a beginning",
                places(query.setRange(start, end, false, 10).execute().get()),
                List.of("a7", "a300"));
        start = place("b", 1, ComponentEquality.GREATER_THAN_EQUAL);
        check(
                "those after one",
                places(query.setRange(start, null, false, 10).execute().get()),
                List.of("b2"));
    }

    private static List<String> places(ColumnSlice<Composite, String> slice) {
        return slice.getColumns().stream()
                .map(HColumn::getName)
                .map(name -> name.get(0, TEXT) + name.get(1, LONG))
                .toList();
    }

    private void expired() throws InterruptedException {
        Thread.sleep(Math.max(0, expires - System.currentTimeMillis()));
        check(
                "what has expired",
                slice("emma", "note", "note", false, 1).getColumns().size(),
                0);
    }

    private void changeSchema() {
        var books = new BasicColumnFamilyDefinition(described("Books"));
        books.addColumnDefinition(column("author", ComparatorType.UTF8TYPE, "by_author"));
        cluster.updateColumnFamily(books, true);
        check(
                "a second index",
                described("Books").getColumnMetadata().stream()
                        .filter(each -> each.getIndexType() != null)
                        .map(each -> each.getIndexName())
                        .sorted()
                        .toList(),
                List.of("by_author", "by_genre"));
        createMutator(keyspace, TEXT).insert("emma", "Books", createColumn("author", "Jane", TEXT, TEXT));
        var query = HFactory.createIndexedSlicesQuery(keyspace, TEXT, TEXT, TEXT)
                .setColumnFamily("Books")
                .setColumnNames("author")
                .addEqualsExpression("author", "Jane")
                .setStartKey("");
        check(
                "which finds",
                query.execute().get().getList().stream()
                        .map(row -> row.getKey())
                        .toList(),
                List.of("emma"));
        cluster.truncate(name, "Books");
        check("nothing left", row("emma"), List.of());
        cluster.dropColumnFamily(name, "Reviews", true);
        check("a column family less", described("Reviews"), null);
        cluster.dropKeyspace(name, true);
        check("the keyspace is gone", cluster.describeKeyspace(name), null);
    }
}
