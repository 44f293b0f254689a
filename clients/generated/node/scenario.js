// The library of ../README.md on a generated client: scenario.js LINE HOST PORT.

"use strict";

const assert = require("node:assert/strict");
const { once } = require("node:events");
const { setTimeout: sleep } = require("node:timers/promises");
const thrift = require("thrift");

const [line, host, port] = process.argv.slice(2);
const Cassandra = require(`./build/${line}/Cassandra`);
const types = require(`./build/${line}/cassandra-${line}_types`);
const { ColumnParent, ColumnPath, ConsistencyLevel, InvalidRequestException, NotFoundException } = types;

const { ONE } = ConsistencyLevel;
const BOOKS = new ColumnParent({ column_family: "Books" });
const LOANS = new ColumnParent({ column_family: "Loans" });
const VISITS = new ColumnParent({ column_family: "Visits" });
const ALL = between("", "");

let checks = 0;

function check(what, found, expected) {
  checks += 1;
  assert.deepEqual(found, expected, what);
}

async function refused(what, kind, call) {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof kind, `${what}: ${error.stack}`);
    return true;
  });
  checks += 1;
}

function isSince(wanted) {
  const [major, minor] = line.split(".").map(Number);
  const [wantedMajor, wantedMinor] = wanted.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

// Eight bytes, as LongType has them.
function long(number) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(number));
  return bytes;
}

function names(...column_names) {
  return new types.SlicePredicate({ column_names: column_names.map((name) => Buffer.from(name)) });
}

function between(start, finish, reversed = false, count = 100) {
  const [from, to] = [Buffer.from(start), Buffer.from(finish)];
  return new types.SlicePredicate({ slice_range: new types.SliceRange({ start: from, finish: to, reversed, count }) });
}

function column(name, value, timestamp = 10, ttl = null) {
  return new types.Column({ name: Buffer.from(name), value: Buffer.from(value), timestamp, ttl });
}

function write(entry) {
  return new types.Mutation({ column_or_supercolumn: new types.ColumnOrSuperColumn(entry) });
}

function range(start, end, count, row_filter) {
  return new types.KeyRange({ start_key: Buffer.from(start), end_key: Buffer.from(end), count, row_filter });
}

function expression(name, op, value) {
  return new types.IndexExpression({ column_name: Buffer.from(name), op, value: Buffer.from(value) });
}

function path(column_family, names) {
  return new ColumnPath({ column_family, ...names });
}

const pair = ({ name, value }) => [name.toString(), value.toString()];
const columns = (entries) => entries.map(({ column: found }) => pair(found));
const longs = (bytes) => Number(bytes.readBigInt64BE());
const superColumns = (entries) =>
  entries.map(({ super_column: found }) => [longs(found.name), found.columns.map(pair)]);
const book = (number) => `book${String(number).padStart(2, "0")}`;
const books = (first, step) => Array.from({ length: (20 - first) / step }, (_, place) => book(first + place * step));

class Library {
  constructor(client) {
    this.client = client;
    this.keyspace = `Library${Math.floor(Math.random() * 2 ** 48).toString(16)}`;
  }

  async run() {
    await this.createSchema();
    await this.columns();
    await this.batch();
    await this.slices();
    await this.scan();
    await this.index();
    await this.superColumns();
    await this.mistakes();
    if (isSince("1.0")) {
      await this.counters();
    }
    if (isSince("2.1")) {
      await this.compareAndSet();
      await this.newWaysToRead();
    }
    await this.expired();
    await this.changeSchema();
  }

  async createSchema() {
    const { client, keyspace } = this;
    check("the version has three parts", (await client.describe_version()).split(".").length, 3);
    check("the cluster has a name", (await client.describe_cluster_name()) !== "", true);
    await refused("no keyspace yet", InvalidRequestException, () =>
      client.get_slice(Buffer.from("dune"), BOOKS, ALL, ONE),
    );
    const index = { index_type: types.IndexType.KEYS, index_name: "by_shelf" };
    const definition = new types.KsDef({
      name: keyspace,
      strategy_class: "org.apache.cassandra.locator.SimpleStrategy",
      ...(isSince("0.8") ? { strategy_options: { replication_factor: "1" } } : { replication_factor: 1 }),
      cf_defs: [
        new types.CfDef({
          keyspace,
          name: "Books",
          comparator_type: "UTF8Type",
          default_validation_class: "UTF8Type",
          column_metadata: [
            new types.ColumnDef({ name: Buffer.from("shelf"), validation_class: "UTF8Type", ...index }),
            new types.ColumnDef({ name: Buffer.from("year"), validation_class: "LongType" }),
          ],
        }),
        new types.CfDef({
          keyspace,
          name: "Loans",
          column_type: "Super",
          comparator_type: "LongType",
          subcomparator_type: "UTF8Type",
        }),
      ],
    });
    check("the schema has a version", (await client.system_add_keyspace(definition)) !== "", true);
    await refused("the keyspace is there", InvalidRequestException, () => client.system_add_keyspace(definition));
    await client.set_keyspace(keyspace);
    const families = Object.fromEntries(
      (await client.describe_keyspace(keyspace)).cf_defs.map((each) => [each.name, each]),
    );
    check("the column families", Object.keys(families).sort(), ["Books", "Loans"]);
    check(
      "comparators",
      [families.Books.comparator_type, families.Loans.subcomparator_type],
      Array(2).fill("org.apache.cassandra.db.marshal.UTF8Type"),
    );
    check("the type", families.Loans.column_type, "Super");
    const shelf = families.Books.column_metadata.find(({ name }) => name.toString() === "shelf");
    check("the index", shelf.index_name, "by_shelf");
    check(
      "among the keyspaces",
      (await client.describe_keyspaces()).some(({ name }) => name === keyspace),
      true,
    );
    if (isSince("1.0")) {
      await client.system_add_column_family(
        new types.CfDef({
          keyspace,
          name: "Visits",
          comparator_type: "UTF8Type",
          default_validation_class: "CounterColumnType",
        }),
      );
    }
  }

  async columns() {
    const { client } = this;
    for (const [name, value] of [
      ["title", "Dune"],
      ["author", "Herbert"],
      ["shelf", "c"],
      ["year", long(1965)],
    ]) {
      await client.insert("dune", BOOKS, column(name, value), ONE);
    }
    await client.insert("dune", BOOKS, column("title", "an older title", 9), ONE);
    let found = (await client.get("dune", path("Books", { column: "title" }), ONE)).column;
    check("the newer of two writes", [...pair(found), Number(found.timestamp), found.ttl], ["title", "Dune", 10, null]);
    await refused("no such column", NotFoundException, () =>
      client.get("dune", path("Books", { column: "isbn" }), ONE),
    );
    await client.insert("dune", BOOKS, column("note", "wet", 10, 2), ONE);
    this.expires = Date.now() + 3200;
    found = (await client.get("dune", path("Books", { column: "note" }), ONE)).column;
    check("a time to live", [...pair(found), found.ttl], ["note", "wet", 2]);
  }

  async batch() {
    const deletion = new types.Deletion({ timestamp: 11, predicate: names("author") });
    const batch = { dune: { Books: [new types.Mutation({ deletion })] } };
    for (let number = 0; number < 20; number += 1) {
      const fields = [
        ["title", `Book ${number}`],
        ["shelf", "ab"[number % 2]],
        ["year", long(1900 + number)],
      ];
      batch[book(number)] = { Books: fields.map(([name, value]) => write({ column: column(name, value) })) };
    }
    await this.client.batch_mutate(batch, ONE);
  }

  async slices() {
    const { client } = this;
    const slice = async (predicate) => columns(await client.get_slice("book03", BOOKS, predicate, ONE));
    const title = ["title", "Book 3"];
    check("by names", columns(await client.get_slice("dune", BOOKS, names("title", "author", "shelf"), ONE)), [
      ["shelf", "c"],
      ["title", "Dune"],
    ]);
    check("all", await slice(ALL), [["shelf", "b"], title, ["year", long(1903).toString()]]);
    check("a range", await slice(between("shelf", "title")), [["shelf", "b"], title]);
    check("backwards", await slice(between("u", "", true, 1)), [title]);
    check("a count", await client.get_count("book03", BOOKS, ALL, ONE), 3);
    const rows = await client.multiget_slice(["book01", "nobody"], BOOKS, names("title"), ONE);
    check("rows", [columns(rows.book01), columns(rows.nobody)], [[["title", "Book 1"]], []]);
    const counts = await client.multiget_count(["book01", "nobody"], BOOKS, ALL, ONE);
    check("counts of rows", { ...counts }, { book01: 3, nobody: 0 });
  }

  async scan() {
    const seen = [];
    for (let fresh = [""]; fresh.length > 0; seen.push(...fresh)) {
      const start = seen.at(-1) ?? "";
      const page = await this.client.get_range_slices(BOOKS, names("title"), range(start, "", 7), ONE);
      fresh = page.map(({ key }) => key.toString()).filter((key) => key !== start);
    }
    check("every row once", seen.sort(), [...books(0, 1), "dune"]);
  }

  async index() {
    const { client } = this;
    const shelf = expression("shelf", types.IndexOperator.EQ, "a");
    const year = expression("year", types.IndexOperator.GTE, long(1910));
    const those = async (...expressions) => {
      const clause = new types.IndexClause({ expressions, start_key: Buffer.alloc(0), count: 100 });
      const rows = await client.get_indexed_slices(BOOKS, clause, names("title"), ONE);
      return rows.map(({ key }) => key.toString()).sort();
    };
    check("a shelf", await those(shelf), books(0, 2));
    check("its later years", await those(shelf, year), books(10, 2));
    await client.insert("book12", BOOKS, column("shelf", "c", 11), ONE);
    await client.remove("book14", path("Books"), 11, ONE);
    check("after changes", await those(shelf, year), ["book10", "book16", "book18"]);
    await refused("without an index", InvalidRequestException, () => those(year));
  }

  async superColumns() {
    const { client } = this;
    const loan = (year, fields) =>
      write({
        super_column: new types.SuperColumn({
          name: long(year),
          columns: Object.entries(fields).map(([name, value]) => column(name, value)),
        }),
      });
    const of = (year) => new ColumnParent({ column_family: "Loans", super_column: long(year) });
    const loans = [loan(2010, { who: "ada", until: "may" }), loan(2009, { who: "bob" }), loan(-1, { who: "cyd" })];
    await client.batch_mutate({ dune: { Loans: loans } }, ONE);
    await client.insert("dune", of(2009), column("until", "june"), ONE);
    const ada = [
      ["until", "may"],
      ["who", "ada"],
    ];
    const bob = [
      ["until", "june"],
      ["who", "bob"],
    ];
    check("super columns", superColumns(await client.get_slice("dune", LOANS, ALL, ONE)), [
      [-1, [["who", "cyd"]]],
      [2009, bob],
      [2010, ada],
    ]);
    check("the columns of one", columns(await client.get_slice("dune", of(2010), ALL, ONE)), ada);
    const found = await client.get("dune", path("Loans", { super_column: long(2009), column: "who" }), ONE);
    check("one of them", pair(found.column), ["who", "bob"]);
    await client.remove("dune", path("Loans", { super_column: long(2010), column: "until" }), 11, ONE);
    await client.remove("dune", path("Loans", { super_column: long(-1) }), 11, ONE);
    check(
      "after removals, backwards",
      superColumns(await client.get_slice("dune", LOANS, between("", "", true), ONE)),
      [
        [2010, [["who", "ada"]]],
        [2009, bob],
      ],
    );
    check(
      "counts",
      [await client.get_count("dune", LOANS, ALL, ONE), await client.get_count("dune", of(2009), ALL, ONE)],
      [2, 2],
    );
  }

  async mistakes() {
    const { client } = this;
    const inserted = (key, parent, name, value) => () => client.insert(key, parent, column(name, value), ONE);
    const nowhere = new ColumnParent({ column_family: "Nowhere" });
    await refused("three bytes are no long", InvalidRequestException, inserted("k", BOOKS, "year", "abc"));
    await refused("no such column family", InvalidRequestException, inserted("k", nowhere, "a", "b"));
    await refused("no super column", InvalidRequestException, inserted("k", LOANS, "a", "b"));
    await refused("no key", InvalidRequestException, inserted("", BOOKS, "a", "b"));
    await refused("no such keyspace", InvalidRequestException, () => client.set_keyspace("Nowhere"));
  }

  async counters() {
    const { client } = this;
    const counter = (name, value) => new types.CounterColumn({ name: Buffer.from(name), value });
    await client.add("dune", VISITS, counter("read", 5), ONE);
    await client.add("dune", VISITS, counter("read", -2), ONE);
    const read = path("Visits", { column: "read" });
    check("a sum", Number((await client.get("dune", read, ONE)).counter_column.value), 3);
    const visits = [
      ["read", 10],
      ["lent", 1],
    ].map(([name, by]) => write({ counter_column: counter(name, by) }));
    await client.batch_mutate({ dune: { Visits: visits } }, ONE);
    const found = await client.get_slice("dune", VISITS, ALL, ONE);
    check(
      "two sums",
      found.map(({ counter_column: each }) => [each.name.toString(), Number(each.value)]),
      [
        ["lent", 1],
        ["read", 13],
      ],
    );
    await client.remove_counter("dune", read, ONE);
    await refused("a counter that is gone", NotFoundException, () => client.get("dune", read, ONE));
    await refused("to write what counts", InvalidRequestException, () =>
      client.insert("dune", VISITS, column("read", "1"), ONE),
    );
  }

  async compareAndSet() {
    const { client } = this;
    const cas = async (expected, value) => {
      const now = Date.now() * 1000;
      const { success, current_values: current } = await client.cas(
        "desk",
        "Books",
        expected.map((each) => column("keeper", each)),
        [column("keeper", value, now)],
        ConsistencyLevel.SERIAL,
        ConsistencyLevel.QUORUM,
      );
      return success ? "done" : current.map(pair);
    };
    check("the first", await cas([], "ada"), "done");
    check("comes first", await cas([], "bob"), [["keeper", "ada"]]);
    check("not if another is there", await cas(["eve"], "bob"), [["keeper", "ada"]]);
    check("but if she is", await cas(["ada"], "bob"), "done");
    check("so it is him", columns(await client.get_slice("desk", BOOKS, ALL, ONE)), [["keeper", "bob"]]);
  }

  async newWaysToRead() {
    const { client } = this;
    await client.atomic_batch_mutate(
      {
        abc: { Books: [..."abcdefgh"].map((letter) => write({ column: column(letter, "") })) },
        xyz: { Books: [write({ column: column("shelf", "z") })] },
      },
      ONE,
    );
    const slices = [
      ["b", "d"],
      ["c", "e"],
      ["h", ""],
    ].map(([start, finish]) => new types.ColumnSlice({ start: Buffer.from(start), finish: Buffer.from(finish) }));
    const several = await client.get_multi_slice(
      new types.MultiSliceRequest({
        key: Buffer.from("abc"),
        column_parent: BOOKS,
        column_slices: slices,
        count: 10,
      }),
    );
    check("several ranges", several.map(({ column: each }) => each.name.toString()).join(""), "bcdeh");
    const paged = await client.get_paged_slice("Books", range("abc", "abc", 4), Buffer.from("c"), ONE);
    check(
      "from a column on",
      paged.map((row) => columns(row.columns).map(([name]) => name)),
      [["c", "d", "e", "f"]],
    );
    const filter = [expression("shelf", types.IndexOperator.EQ, "z")];
    const rows = await client.get_range_slices(BOOKS, ALL, range("", "", 100, filter), ONE);
    check(
      "a filter",
      rows.map((row) => [row.key.toString(), columns(row.columns)]),
      [["xyz", [["shelf", "z"]]]],
    );
  }

  async expired() {
    await sleep(Math.max(0, this.expires - Date.now()));
    await refused("what has expired", NotFoundException, () =>
      this.client.get("dune", path("Books", { column: "note" }), ONE),
    );
    check("is not counted", await this.client.get_count("dune", BOOKS, ALL, ONE), 3);
  }

  async changeSchema() {
    const { client, keyspace } = this;
    const family = async () => (await client.describe_keyspace(keyspace)).cf_defs.find(({ name }) => name === "Books");
    const definition = await family();
    definition.comment = "all of them";
    await client.system_update_column_family(definition);
    const { comment, column_metadata: metadata } = await family();
    check("an update", [comment, metadata.length], ["all of them", 2]);
    await client.truncate("Books");
    check("no rows", await client.get_range_slices(BOOKS, ALL, range("", "", 100), ONE), []);
    check("others have theirs", await client.get_count("dune", LOANS, ALL, ONE), 2);
    await client.system_drop_column_family("Loans");
    await refused("a column family that is gone", InvalidRequestException, () =>
      client.get_count("dune", LOANS, ALL, ONE),
    );
    await client.system_drop_keyspace(keyspace);
    await refused("a keyspace that is gone", NotFoundException, () => client.describe_keyspace(keyspace));
  }
}

async function main() {
  const connection = thrift.createConnection(host, Number(port), {
    transport: thrift.TFramedTransport,
    protocol: thrift.TBinaryProtocol,
    timeout: 10_000,
  });
  await once(connection, "connect");
  try {
    await new Library(thrift.createClient(Cassandra, connection)).run();
  } finally {
    connection.end();
    console.log(`${checks} checks`);
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
