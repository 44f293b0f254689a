package scenario;

import static org.apache.cassandra.thrift.ConsistencyLevel.ONE;
import static scenario.Checks.ALL;
import static scenario.Checks.BOOKS;
import static scenario.Checks.LOANS;
import static scenario.Checks.between;
import static scenario.Checks.bytes;
import static scenario.Checks.changes;
import static scenario.Checks.check;
import static scenario.Checks.column;
import static scenario.Checks.expression;
import static scenario.Checks.names;
import static scenario.Checks.pair;
import static scenario.Checks.parent;
import static scenario.Checks.path;
import static scenario.Checks.range;
import static scenario.Checks.refused;
import static scenario.Checks.text;
import static scenario.Checks.write;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.apache.cassandra.thrift.Cassandra;
import org.apache.cassandra.thrift.CfDef;
import org.apache.cassandra.thrift.Column;
import org.apache.cassandra.thrift.ColumnDef;
import org.apache.cassandra.thrift.ColumnParent;
import org.apache.cassandra.thrift.Deletion;
import org.apache.cassandra.thrift.IndexClause;
import org.apache.cassandra.thrift.IndexExpression;
import org.apache.cassandra.thrift.IndexOperator;
import org.apache.cassandra.thrift.IndexType;
import org.apache.cassandra.thrift.InvalidRequestException;
import org.apache.cassandra.thrift.KsDef;
import org.apache.cassandra.thrift.Mutation;
import org.apache.cassandra.thrift.NotFoundException;
import org.apache.cassandra.thrift.SlicePredicate;
import org.apache.cassandra.thrift.SuperColumn;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.layered.TFramedTransport;

/** The library of ../README.md on a generated client: Library LINE HOST PORT. */
public final class Library {
    private static final ByteBuffer DUNE = bytes("dune");
    private static final Class<InvalidRequestException> INVALID = InvalidRequestException.class;

    private final String line;
    private final Cassandra.Client client;
    private final String keyspace =
            "Library" + Long.toHexString(ThreadLocalRandom.current().nextLong() >>> 16);
    private long expires;

    private Library(String line, Cassandra.Client client) {
        this.line = line;
        this.client = client;
    }

    public static void main(String[] arguments) throws Exception {
        try (var transport = new TFramedTransport(new TSocket(arguments[1], Integer.parseInt(arguments[2])))) {
            transport.open();
            new Library(arguments[0], new Cassandra.Client(new TBinaryProtocol(transport))).run();
        } finally {
            System.out.println(Checks.count() + " checks");
        }
    }

    private void run() throws Exception {
        createSchema();
        columns();
        batch();
        slices();
        scan();
        index();
        superColumns();
        mistakes();
        if (!line.equals("0.7")) {
            later("Counters");
        }
        if (line.equals("2.1")) {
            later("CompareAndSet");
            later("NewReads");
        }
        expired();
        changeSchema();
    }

    /** Compiled only for the lines that have what it uses. */
    private void later(String part) throws Exception {
        ((Part) Class.forName("scenario." + part).getConstructor().newInstance()).run(client);
    }

    private void createSchema() throws TException {
        check("the version has three parts", client.describe_version().split("\\.").length, 3);
        check("the cluster has a name", client.describe_cluster_name().isEmpty(), false);
        refused("no keyspace yet", INVALID, () -> client.get_slice(DUNE, BOOKS, ALL, ONE));
        var shelf = new ColumnDef(bytes("shelf"), "UTF8Type")
                .setIndex_type(IndexType.KEYS)
                .setIndex_name("by_shelf");
        var books = new CfDef(keyspace, "Books")
                .setComparator_type("UTF8Type")
                .setDefault_validation_class("UTF8Type")
                .setColumn_metadata(List.of(shelf, new ColumnDef(bytes("year"), "LongType")));
        var loans = new CfDef(keyspace, "Loans")
                .setColumn_type("Super")
                .setComparator_type("LongType")
                .setSubcomparator_type("UTF8Type");
        var definition = new KsDef()
                .setName(keyspace)
                .setCf_defs(List.of(books, loans))
                .setStrategy_class("org.apache.cassandra.locator.SimpleStrategy");
        if (line.equals("0.7")) {
            definition.setReplication_factor(1);
        } else {
            definition.setStrategy_options(Map.of("replication_factor", "1"));
        }
        check("the schema has a version", client.system_add_keyspace(definition).isEmpty(), false);
        refused("the keyspace is there", INVALID, () -> client.system_add_keyspace(definition));
        client.set_keyspace(keyspace);
        check(
                "the column families",
                client.describe_keyspace(keyspace).getCf_defs().stream()
                        .map(CfDef::getName)
                        .sorted()
                        .toList(),
                List.of("Books", "Loans"));
        check("a comparator", family("Books").getComparator_type(), "org.apache.cassandra.db.marshal.UTF8Type");
        check("another", family("Loans").getSubcomparator_type(), "org.apache.cassandra.db.marshal.UTF8Type");
        check("the type", family("Loans").getColumn_type(), "Super");
        check(
                "the index",
                family("Books").getColumn_metadata().stream()
                        .filter(each -> text(each.bufferForName()).equals("shelf"))
                        .map(ColumnDef::getIndex_name)
                        .toList(),
                List.of("by_shelf"));
        check(
                "among the keyspaces",
                client.describe_keyspaces().stream()
                        .anyMatch(each -> each.getName().equals(keyspace)),
                true);
        if (!line.equals("0.7")) {
            client.system_add_column_family(new CfDef(keyspace, "Visits")
                    .setComparator_type("UTF8Type")
                    .setDefault_validation_class("CounterColumnType"));
        }
    }

    private CfDef family(String name) throws TException {
        return client.describe_keyspace(keyspace).getCf_defs().stream()
                .filter(each -> each.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private void columns() throws TException {
        var fields =
                Map.of("title", bytes("Dune"), "author", bytes("Herbert"), "shelf", bytes("c"), "year", bytes(1965));
        for (var field : fields.entrySet()) {
            client.insert(DUNE, BOOKS, column(field.getKey(), field.getValue(), 10), ONE);
        }
        client.insert(DUNE, BOOKS, column("title", bytes("an older title"), 9), ONE);
        var title = client.get(DUNE, path("Books", null, "title"), ONE).getColumn();
        check("the newer of two writes", pair(title) + " " + title.getTimestamp(), "title=Dune 10");
        check("has no end", title.isSetTtl(), false);
        refused("no such column", NotFoundException.class, () -> client.get(DUNE, path("Books", null, "isbn"), ONE));
        client.insert(DUNE, BOOKS, column("note", bytes("wet"), 10).setTtl(2), ONE);
        expires = System.currentTimeMillis() + 3200;
        var note = client.get(DUNE, path("Books", null, "note"), ONE).getColumn();
        check("a time to live", pair(note) + " " + note.getTtl(), "note=wet 2");
    }

    private static String book(int number) {
        return String.format("book%02d", number);
    }

    private static List<String> books(int first, int step) {
        return IntStream.iterate(first, number -> number < 20, number -> number + step)
                .mapToObj(Library::book)
                .toList();
    }

    private void batch() throws TException {
        var batch = new HashMap<ByteBuffer, Map<String, List<Mutation>>>();
        var deletion = new Deletion().setTimestamp(11).setPredicate(names("author"));
        batch.put(DUNE, changes("Books", new Mutation().setDeletion(deletion)));
        for (var number = 0; number < 20; number++) {
            batch.put(
                    bytes(book(number)),
                    changes(
                            "Books",
                            write(column("title", bytes("Book " + number), 10)),
                            write(column("shelf", bytes(number % 2 == 0 ? "a" : "b"), 10)),
                            write(column("year", bytes(1900L + number), 10))));
        }
        client.batch_mutate(batch, ONE);
    }

    private List<String> slice(SlicePredicate predicate) throws TException {
        return Checks.columns(client.get_slice(bytes("book03"), BOOKS, predicate, ONE));
    }

    private void slices() throws TException {
        check(
                "by names",
                Checks.columns(client.get_slice(DUNE, BOOKS, names("year", "title", "author"), ONE)),
                List.of("title=Dune", "year=1965"));
        check("all", slice(ALL), List.of("shelf=b", "title=Book 3", "year=1903"));
        check(
                "a range",
                slice(between(bytes("shelf"), bytes("title"), false, 100)),
                List.of("shelf=b", "title=Book 3"));
        check("backwards", slice(between(bytes("u"), bytes(""), true, 1)), List.of("title=Book 3"));
        check("a count", client.get_count(bytes("book03"), BOOKS, ALL, ONE), 3);
        var keys = List.of(bytes("book01"), bytes("nobody"));
        var rows = client.multiget_slice(keys, BOOKS, names("title"), ONE);
        check("a row", Checks.columns(rows.get(keys.get(0))), List.of("title=Book 1"));
        check("and none", rows.get(keys.get(1)), List.of());
        check("counts of rows", client.multiget_count(keys, BOOKS, ALL, ONE), Map.of(keys.get(0), 3, keys.get(1), 0));
    }

    private void scan() throws TException {
        var seen = new ArrayList<String>();
        var start = "";
        while (true) {
            var before = start;
            var fresh = client.get_range_slices(BOOKS, names("title"), range(start, "", 7), ONE).stream()
                    .map(row -> text(row.bufferForKey()))
                    .filter(key -> !key.equals(before))
                    .toList();
            if (fresh.isEmpty()) {
                break;
            }
            seen.addAll(fresh);
            start = fresh.get(fresh.size() - 1);
        }
        var expected = new ArrayList<>(books(0, 1));
        expected.add("dune");
        check("every row once", seen.stream().sorted().toList(), expected);
    }

    private List<String> those(IndexExpression... expressions) throws TException {
        var clause = new IndexClause(List.of(expressions), bytes(""), 100);
        return client.get_indexed_slices(BOOKS, clause, names("title"), ONE).stream()
                .map(row -> text(row.bufferForKey()))
                .sorted()
                .toList();
    }

    private void index() throws TException {
        var shelf = expression("shelf", IndexOperator.EQ, bytes("a"));
        var year = expression("year", IndexOperator.GTE, bytes(1910));
        check("a shelf", those(shelf), books(0, 2));
        check("its later years", those(shelf, year), books(10, 2));
        client.insert(bytes("book12"), BOOKS, column("shelf", bytes("c"), 11), ONE);
        client.remove(bytes("book14"), path("Books", null, null), 11, ONE);
        check("after changes", those(shelf, year), List.of("book10", "book16", "book18"));
        refused("without an index", INVALID, () -> those(year));
    }

    private static Mutation loan(long year, Column... columns) {
        return write(new SuperColumn(bytes(year), List.of(columns)));
    }

    private void superColumns() throws TException {
        client.batch_mutate(
                Map.of(
                        DUNE,
                        changes(
                                "Loans",
                                loan(2010, column("who", bytes("ada"), 10), column("until", bytes("may"), 10)),
                                loan(2009, column("who", bytes("bob"), 10)),
                                loan(-1, column("who", bytes("cyd"), 10)))),
                ONE);
        client.insert(DUNE, parent("Loans", bytes(2009)), column("until", bytes("june"), 10), ONE);
        check(
                "super columns",
                Checks.superColumns(client.get_slice(DUNE, LOANS, ALL, ONE)),
                List.of("-1[who=cyd]", "2009[until=june, who=bob]", "2010[until=may, who=ada]"));
        check(
                "the columns of one",
                Checks.columns(client.get_slice(DUNE, parent("Loans", bytes(2010)), ALL, ONE)),
                List.of("until=may", "who=ada"));
        var who = client.get(DUNE, path("Loans", bytes(2009), "who"), ONE);
        check("one of them", pair(who.getColumn()), "who=bob");
        client.remove(DUNE, path("Loans", bytes(2010), "until"), 11, ONE);
        client.remove(DUNE, path("Loans", bytes(-1), null), 11, ONE);
        var backwards = between(bytes(""), bytes(""), true, 100);
        check(
                "after removals, backwards",
                Checks.superColumns(client.get_slice(DUNE, LOANS, backwards, ONE)),
                List.of("2010[who=ada]", "2009[until=june, who=bob]"));
        check("a count", client.get_count(DUNE, LOANS, ALL, ONE), 2);
        check("a count of one", client.get_count(DUNE, parent("Loans", bytes(2009)), ALL, ONE), 2);
    }

    private void insert(String key, ColumnParent parent, String name, String value) throws TException {
        client.insert(bytes(key), parent, column(name, bytes(value), 1), ONE);
    }

    private void mistakes() throws TException {
        refused("three bytes are no long", INVALID, () -> insert("k", BOOKS, "year", "abc"));
        refused("no such column family", INVALID, () -> insert("k", new ColumnParent("Nowhere"), "a", "b"));
        refused("no super column", INVALID, () -> insert("k", LOANS, "a", "b"));
        refused("no key", INVALID, () -> insert("", BOOKS, "a", "b"));
        refused("no such keyspace", INVALID, () -> client.set_keyspace("Nowhere"));
    }

    private void expired() throws Exception {
        Thread.sleep(Math.max(0, expires - System.currentTimeMillis()));
        refused("what has expired", NotFoundException.class, () -> client.get(DUNE, path("Books", null, "note"), ONE));
        check("is not counted", client.get_count(DUNE, BOOKS, ALL, ONE), 3);
    }

    private void changeSchema() throws TException {
        client.system_update_column_family(family("Books").setComment("all of them"));
        check(
                "an update",
                family("Books").getComment() + " "
                        + family("Books").getColumn_metadata().size(),
                "all of them 2");
        client.truncate("Books");
        check("no rows", client.get_range_slices(BOOKS, ALL, range("", "", 100), ONE), List.of());
        check("others have theirs", client.get_count(DUNE, LOANS, ALL, ONE), 2);
        client.system_drop_column_family("Loans");
        refused("a column family that is gone", INVALID, () -> client.get_count(DUNE, LOANS, ALL, ONE));
        client.system_drop_keyspace(keyspace);
        refused("a keyspace that is gone", NotFoundException.class, () -> client.describe_keyspace(keyspace));
    }
}
