package scenario;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.cassandra.thrift.Cassandra;
import org.apache.cassandra.thrift.Compression;
import org.apache.cassandra.thrift.ConsistencyLevel;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.transport.TFramedTransport;
import org.apache.thrift.transport.TSocket;

/**
 * The real cassandra-cli reads what CQL has written: the listing of an article about the two, cell by cell. Then it keeps
 * a family of its own, and CQL reads what that holds.
 */
public final class Shell {
    private static int checks;

    private final String host;
    private final int port;
    private final Cassandra.Client client;
    private final String keyspace =
            "Shell" + Long.toHexString(ThreadLocalRandom.current().nextLong() >>> 16);

    private Shell(String host, int port) throws Exception {
        this.host = host;
        this.port = port;
        var transport = new TFramedTransport(new TSocket(host, port, 20_000));
        client = new Cassandra.Client(new TBinaryProtocol(transport));
        transport.open();
    }

    public static void main(String[] arguments) throws Exception {
        var shell = new Shell(arguments[0], Integer.parseInt(arguments[1]));
        try {
            shell.listsWhatCqlWrote();
            shell.keepsFamiliesOfItsOwn();
        } finally {
            shell.cql("DROP KEYSPACE \"" + shell.keyspace + "\"");
        }
        System.out.println(checks + " checks");
    }

    private void listsWhatCqlWrote() throws Exception {
        cql("CREATE KEYSPACE \"" + keyspace
                + "\" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        cql("USE \"" + keyspace + "\"");
        cql("CREATE TABLE testtable (pkey1 text, pkey2 text, skey int, cvalue map<text, text>, value text,"
                + " PRIMARY KEY ((pkey1, pkey2), skey)) WITH CLUSTERING ORDER BY (skey DESC)");
        insert("pkey2_1", "pkey2_1", 1);
        insert("pkey1_1", "pkey2_1", 103);
        insert("pkey1_1", "pkey2_1", 12);
        insert("pkey1_2", "pkey2_1", 200);
        cql("UPDATE testtable USING TIMESTAMP 2000 SET value = 'newer'"
                + " WHERE pkey1 = 'pkey1_1' AND pkey2 = 'pkey2_1' AND skey = 103");
        cql("DELETE FROM testtable USING TIMESTAMP 2000 WHERE pkey1 = 'pkey2_1' AND pkey2 = 'pkey2_1'");

        var said = says("use " + keyspace + ";", "list testtable;");
        var rows = rowsOf(said);
        same("rows", List.of("pkey1_1:pkey2_1", "pkey1_2:pkey2_1", "pkey2_1:pkey2_1"),
                List.copyOf(rows.keySet()));
        same("cells of the first row", List.of(
                "=> (name=103:, value=, timestamp=1000)",
                "=> (name=103:cvalue:686f676531, value=6675676131, timestamp=1000)",
                "=> (name=103:value, value=6e65776572, timestamp=2000)",
                "=> (name=12:, value=, timestamp=1000)",
                "=> (name=12:cvalue:686f676531, value=6675676131, timestamp=1000)",
                "=> (name=12:value, value=3132, timestamp=1000)"), rows.get("pkey1_1:pkey2_1"));
        same("cells of a deleted row", List.of(), rows.get("pkey2_1:pkey2_1"));
        contains(said, "3 Rows Returned.");
    }

    private void insert(String first, String second, int sort) throws Exception {
        cql("INSERT INTO testtable (pkey1, pkey2, skey, cvalue, value) VALUES ('" + first + "', '" + second + "', "
                + sort + ", {'hoge1': 'fuga1'}, '" + sort + "') USING TIMESTAMP 1000");
    }

    private void keepsFamiliesOfItsOwn() throws Exception {
        var said = says("use " + keyspace + ";",
                "create column family Users with comparator=UTF8Type and key_validation_class=UTF8Type"
                        + " and column_metadata=[{column_name: age, validation_class: LongType, index_type: KEYS},"
                        + " {column_name: full_name, validation_class: UTF8Type}];",
                "set Users['jsmith']['age'] = 42;",
                "set Users['jsmith']['full_name'] = 'John Smith';",
                "get Users['jsmith'];",
                "get Users['jsmith']['full_name'];",
                "get Users['nobody']['full_name'];",
                "get Users where age = 42;",
                "count Users['jsmith'];",
                "list Users limit 10;");
        contains(said, "Value inserted.");
        contains(said, "=> (name=age, value=42, timestamp=");
        contains(said, "=> (name=full_name, value=John Smith, timestamp=");
        contains(said, "Returned 2 results.");
        contains(said, "Value was not found");
        contains(said, "2 cells");
        contains(said, "1 Row Returned.");

        var row = client.execute_cql3_query(bytes("SELECT full_name, age FROM \"Users\" WHERE key = 'jsmith'"),
                Compression.NONE, ConsistencyLevel.ONE).getRows().get(0);
        same("what CQL reads", "John Smith", new String(row.getColumns().get(0).getValue(), StandardCharsets.UTF_8));
        same("what CQL reads", 42L, ByteBuffer.wrap(row.getColumns().get(1).getValue()).getLong());

        contains(says("use " + keyspace + ";", "del Users['jsmith']['age'];", "get Users['jsmith'];"),
                "Returned 1 results.");
        contains(says("use " + keyspace + ";", "truncate Users;", "list Users;"), "0 Row Returned.");
        contains(says("use " + keyspace + ";", "describe testtable;"), "if this is a CQL3 table");
        contains(says("describe cluster;"), "Cluster Information:");
    }

    /** What cassandra-cli prints for these statements. */
    private List<String> says(String... statements) throws IOException, InterruptedException {
        var file = Files.createTempFile("cassandra-cli", ".txt");
        try {
            Files.write(file, List.of(statements));
            var process = new ProcessBuilder("java", "-cp", System.getProperty("java.class.path"),
                            "scenario.Cli", "-h", host, "-p", String.valueOf(port), "-f",
                            file.toString())
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor();
            return said.lines().toList();
        } finally {
            Files.delete(file);
        }
    }

    /** The rows of a listing, each with its cells. */
    private static Map<String, List<String>> rowsOf(List<String> said) {
        var rows = new TreeMap<String, List<String>>();
        List<String> cells = null;
        for (var line : said) {
            if (line.startsWith("RowKey: ")) {
                cells = new ArrayList<>();
                rows.put(line.substring("RowKey: ".length()), cells);
            } else if (line.startsWith("=> ") && cells != null) {
                cells.add(line);
            }
        }
        return rows;
    }

    private void cql(String statement) throws Exception {
        client.execute_cql3_query(bytes(statement), Compression.NONE, ConsistencyLevel.ONE);
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static void contains(List<String> said, String wanted) {
        checks++;
        if (said.stream().noneMatch(line -> line.contains(wanted))) {
            throw new AssertionError("not said: " + wanted + "\n" + String.join("\n", said));
        }
    }

    private static void same(String what, Object wanted, Object found) {
        checks++;
        if (!wanted.equals(found)) {
            throw new AssertionError(what + ": " + found + " and not " + wanted);
        }
    }
}
