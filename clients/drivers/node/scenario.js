// The driver for Node against a server: scenario.js HOST CQL_PORT
"use strict";

const assert = require("node:assert/strict");
const { setTimeout: sleep } = require("node:timers/promises");
const cassandra = require("cassandra-driver");

const { types } = cassandra;
const { Long, BigDecimal, Integer, LocalDate, LocalTime, InetAddress, TimeUuid, Tuple, Uuid, consistencies } = types;
const { responseErrorCodes } = types;

const [host, port] = process.argv.slice(2);
const KEYSPACE = "drivers_node";
const TIMESTAMP = 1249084800000000n;
const PARTITIONS = 20;
const ROWS_EACH = 5000;
const PAGE = 5000;
// The lowest and the highest token of a partitioner, and how a token is written in CQL.
const TOKENS = {
  Murmur3Partitioner: [-(2n ** 63n), 2n ** 63n - 1n],
  RandomPartitioner: [-1n, 2n ** 127n],
};

let checks = 0;

function same(what, found, expected) {
  checks += 1;
  assert.deepEqual(found, expected, what);
  console.log(`ok: ${what}`);
}

// The call ends in an error of the server with that code which says these words.
async function refused(what, code, words, call) {
  let error;
  try {
    await call();
  } catch (thrown) {
    error = thrown;
  }
  same(what, [error?.name, error?.code, error?.message.includes(words) || error?.message], [
    "ResponseError",
    code,
    true,
  ]);
}

// What another session does is told by an event, which takes its time.
async function eventually(what, expected, look) {
  const end = Date.now() + 10000;
  let found = await look();
  while (JSON.stringify(found) !== JSON.stringify(expected) && Date.now() < end) {
    await sleep(20);
    found = await look();
  }
  same(what, found, expected);
}

function client(options = {}) {
  return new cassandra.Client({
    contactPoints: [host],
    protocolOptions: { port: Number(port), ...options.protocolOptions },
    localDataCenter: "datacenter1",
    refreshSchemaDelay: 0,
    socketOptions: { readTimeout: 60000 },
    ...options,
    ...(options.protocolOptions && {
      protocolOptions: { port: Number(port), ...options.protocolOptions },
    }),
  });
}

// The columns of `everything` with the value that each driver writes: as a literal of CQL, and as one of the driver.
const EVERYTHING = {
  a_ascii: ["ascii", "'thrift'", "thrift"],
  a_bigint: ["bigint", "-9007199254740993", Long.fromString("-9007199254740993")],
  a_blob: ["blob", "0x00ff10", Buffer.from([0, 255, 16])],
  a_boolean: ["boolean", "true", true],
  a_date: ["date", "'2009-08-01'", LocalDate.fromString("2009-08-01")],
  a_decimal: ["decimal", "-12345678901234567890.123", BigDecimal.fromString("-12345678901234567890.123")],
  a_double: ["double", "2.5", 2.5],
  a_float: ["float", "-0.25", -0.25],
  an_inet: ["inet", "'192.0.2.7'", InetAddress.fromString("192.0.2.7")],
  an_int: ["int", "2147483647", 2147483647],
  a_smallint: ["smallint", "-12345", -12345],
  a_text: ["text", "'Grüße, 世界'", "Grüße, 世界"],
  a_time: ["time", "'12:34:56.789012345'", LocalTime.fromString("12:34:56.789012345")],
  a_timestamp: ["timestamp", "1249084800123", new Date(1249084800123)],
  a_timeuuid: [
    "timeuuid",
    "7ea23a00-7e40-11de-8a39-0800200c9a66",
    TimeUuid.fromString("7ea23a00-7e40-11de-8a39-0800200c9a66"),
  ],
  a_tinyint: ["tinyint", "-7", -7],
  a_uuid: ["uuid", "f81d4fae-7dec-41d0-a765-00a0c91e6bf6", Uuid.fromString("f81d4fae-7dec-41d0-a765-00a0c91e6bf6")],
  a_varint: ["varint", "123456789012345678901234567890", Integer.fromString("123456789012345678901234567890")],
  a_list: ["list<int>", "[3, 1, 2]", [3, 1, 2]],
  a_set: ["set<text>", "{'b', 'a'}", ["a", "b"]],
  a_map: ["map<text, int>", "{'x': 1, 'y': -2}", { x: 1, y: -2 }],
  a_frozen: ["frozen<list<text>>", "['p', 'q']", ["p", "q"]],
  a_tuple: ["frozen<tuple<int, text>>", "(5, 'five')", new Tuple(5, "five")],
  an_address: ["frozen<address>", "{street: 'Main', number: 12}", { street: "Main", number: 12 }],
};
const COLUMNS = Object.keys(EVERYTHING);
const VALUES = COLUMNS.map((column) => EVERYTHING[column][2]);

// Values of the driver's own classes by their text, so that one can be compared with another.
function plain(value) {
  const kinds = [Long, BigDecimal, Integer, LocalDate, LocalTime, InetAddress, Uuid];
  if (kinds.some((kind) => value instanceof kind)) {
    return value.toString();
  }
  return value instanceof Tuple ? value.values() : value;
}

const values = (row) => row.values().map(plain);

class Scenario {
  constructor() {
    this.client = client();
  }

  // Unprepared: values go with the statement, and their types are guessed.
  run(query, params, options) {
    return this.client.execute(query, params, options);
  }

  prepared(query, params, options) {
    return this.client.execute(query, params, { prepare: true, ...options });
  }

  async play() {
    await this.client.connect();
    await this.connections();
    await this.createSchema();
    for (const part of [
      this.types,
      this.collections,
      this.preparedOnes,
      this.batches,
      this.conditions,
      this.counters,
      this.paging,
      this.tokenRanges,
      this.times,
      this.schemaRead,
      this.schemaEvents,
      this.errors,
    ]) {
      await part.call(this);
    }
    await this.client.shutdown();
  }

  async connections() {
    const agreed = this.client.controlConnection.protocolVersion;
    same("the version agreed on", agreed, 4);
    for (const version of [1, 2, 3]) {
      const other = client({ protocolOptions: { maxVersion: version } });
      const result = await other.execute("SELECT key FROM system.local WHERE key = 'local'");
      same(`version ${version}`, [other.controlConnection.protocolVersion, result.first().key], [version, "local"]);
      await other.shutdown();
    }
    const hosts = this.client.hosts.values();
    same("hosts", [hosts.length, hosts[0].datacenter, hosts[0].tokens.length], [1, "datacenter1", 1]);
    same("the release", hosts[0].cassandraVersion.split(".").length, 3);
    this.partitioner = (
      await this.run("SELECT partitioner FROM system.local WHERE key = 'local'")
    ).first().partitioner.split(".").pop();
    same("the partitioner", this.partitioner in TOKENS, true);
  }

  async createSchema() {
    await this.run(`DROP KEYSPACE IF EXISTS ${KEYSPACE}`);
    await this.run(
      `CREATE KEYSPACE ${KEYSPACE} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
    );
    await this.run(`USE ${KEYSPACE}`);
    same("USE", this.client.keyspace, KEYSPACE);
    await this.run("CREATE TYPE address (street text, number int)");
    const columns = COLUMNS.map((column) => `${column} ${EVERYTHING[column][0]}`).join(", ");
    await this.run(`CREATE TABLE everything (id int PRIMARY KEY, ${columns})`);
    await this.run("CREATE TABLE counts (id text PRIMARY KEY, n counter)");
    await this.run(
      "CREATE TABLE posts (author text, year int, written timeuuid, title text, words map<text, int>, tags set<text>," +
        " drafts list<text>, motto text STATIC, PRIMARY KEY ((author, year), written))" +
        " WITH CLUSTERING ORDER BY (written DESC)",
    );
    await this.run(
      "CREATE TABLE numbers (part int, number int, square bigint, PRIMARY KEY (part, number))",
    );
    await this.run("CREATE TABLE accounts (id int PRIMARY KEY, owner text, city text)");
    await this.run("CREATE INDEX by_city ON accounts (city)");
  }

  async types() {
    const literals = COLUMNS.map((column) => EVERYTHING[column][1]).join(", ");
    const names = COLUMNS.join(", ");
    await this.run(`INSERT INTO everything (id, ${names}) VALUES (1, ${literals}) USING TIMESTAMP ${TIMESTAMP}`);
    const markers = COLUMNS.map(() => "?").join(", ");
    const insert = `INSERT INTO everything (id, ${names}) VALUES (?, ${markers}) USING TIMESTAMP ${TIMESTAMP}`;
    await this.prepared(insert, [2, ...VALUES]);
    await this.prepared(insert, [3, ...VALUES.map((_, place) => (place % 2 ? types.unset : null))]);
    const select = `SELECT id, ${names} FROM everything WHERE id = ?`;
    for (const [id, what] of [
      [1, "literals"],
      [2, "values"],
    ]) {
      const row = (await this.prepared(select, [id])).first();
      for (const [place, column] of COLUMNS.entries()) {
        same(`${column} of ${what}`, plain(row[column]), plain(VALUES[place]));
      }
    }
    const nothing = (await this.prepared(select, [3])).first();
    same("nulls and values that are not set", nothing.values(), [3, ...COLUMNS.map(() => null)]);
    await this.prepared(insert, [4, ...VALUES]);
    await this.prepared(insert, [4, ...VALUES.map(() => types.unset)]);
    const kept = (await this.prepared(select, [4])).first();
    same("values that are not set change nothing", values(kept), [4, ...VALUES.map(plain)]);
    await this.run("DELETE FROM everything WHERE id = 4");
    const typed = await this.prepared(select, [1]);
    same(
      "the columns of a result",
      typed.columns.map(({ name }) => name),
      ["id", ...COLUMNS],
    );
  }

  async collections() {
    const key = ["ada", 1843, TimeUuid.now()];
    await this.prepared(
      "INSERT INTO posts (author, year, written, title, words, tags, drafts) VALUES (?, ?, ?, ?, ?, ?, ?)",
      [...key, "Notes", { engine: 2 }, ["math"], ["one", "two"]],
    );
    const where = "WHERE author = ? AND year = ? AND written = ?";
    const change = (what, ...given) => this.prepared(`UPDATE posts SET ${what} ${where}`, [...given, ...key]);
    await change("words = words + ?", { loop: 7 });
    await change("words[?] = ?", "number", 9);
    await change("tags = tags + ?", ["poetry", "art"]);
    await change("tags = tags - ?", ["math"]);
    await change("drafts = drafts + ?", ["three"]);
    await change("drafts = ? + drafts", ["zero"]);
    await change("drafts[?] = ?", 1, "ONE");
    await this.prepared(`DELETE words[?] FROM posts ${where}`, ["engine", ...key]);
    const row = (await this.prepared(`SELECT words, tags, drafts FROM posts ${where}`, key)).first();
    same("a map that was changed", { ...row.words }, { loop: 7, number: 9 });
    same("a set that was changed", row.tags, ["art", "poetry"]);
    same("a list that was changed", row.drafts, ["zero", "ONE", "two", "three"]);
    await change("words = ?, tags = ?", {}, null);
    const emptied = (await this.prepared(`SELECT words, tags FROM posts ${where}`, key)).first();
    same("emptied", emptied.values(), [null, null]);
    await this.run("UPDATE posts SET motto = 'poetical science' WHERE author = 'ada' AND year = 1843");
    const found = (await this.prepared(`SELECT title, motto FROM posts ${where}`, key)).first();
    same("a static column", found.values(), ["Notes", "poetical science"]);
    await this.run(
      "CREATE TABLE nested (id int PRIMARY KEY, paths map<text, frozen<list<frozen<tuple<int, text>>>>>," +
        " homes map<text, frozen<address>>)",
    );
    const paths = { a: [new Tuple(1, "x"), new Tuple(null, "y")] };
    const homes = { summer: { street: "Lake", number: null } };
    await this.prepared("INSERT INTO nested (id, paths, homes) VALUES (?, ?, ?)", [1, paths, homes]);
    const inner = (await this.run("SELECT paths, homes FROM nested")).first();
    same("tuples in lists in a map", inner.paths.a.map(plain), [
      [1, "x"],
      [null, "y"],
    ]);
    same("a type in a map", { ...inner.homes.summer }, { street: "Lake", number: null });
  }

  async preparedOnes() {
    for (let id = 0; id < 5; id += 1) {
      await this.prepared("INSERT INTO accounts (id, owner, city) VALUES (?, ?, ?)", [
        id,
        `owner ${id}`,
        id % 2 ? "Oulu" : "Turku",
      ]);
    }
    const ids = async (query, ...params) =>
      (await this.prepared(query, params)).rows.map(({ id }) => id).sort();
    same("a list for IN", await ids("SELECT id FROM accounts WHERE id IN ?", [4, 3, 1, 9]), [1, 3, 4]);
    same("an index", await ids("SELECT id FROM accounts WHERE city = ?", "Turku"), [0, 2, 4]);
    same("a limit", (await ids("SELECT id FROM accounts LIMIT ?", 2)).length, 2);
    const named = await this.prepared("SELECT title FROM posts WHERE year = :year AND author = :author", {
      author: "ada",
      year: 1843,
    });
    same("names", named.first().title, "Notes");
    const hinted = await this.run("SELECT owner FROM accounts WHERE id = ?", [3], { hints: ["int"] });
    same("values with hints", hinted.first().owner, "owner 3");
    const other = client({ keyspace: KEYSPACE });
    const counted = await other.execute("SELECT count(*) FROM accounts");
    same("a client with a keyspace", Number(counted.first().count), 5);
    await other.shutdown();
  }

  async batches() {
    for (const logged of [true, false]) {
      await this.client.batch(
        [
          { query: "INSERT INTO accounts (id, owner) VALUES (?, ?)", params: [10, `logged ${logged}`] },
          { query: "UPDATE accounts SET owner = ? WHERE id = ?", params: ["eleven", 11] },
          "INSERT INTO accounts (id, owner) VALUES (12, 'twelve')",
        ],
        { prepare: logged, logged, hints: [["int", "text"], ["text", "int"], []] },
      );
      const found = await this.run("SELECT id, owner FROM accounts WHERE id IN (10, 11, 12)");
      same(
        `a batch, logged ${logged}`,
        found.rows.map((row) => row.values()).sort(),
        [
          [10, `logged ${logged}`],
          [11, "eleven"],
          [12, "twelve"],
        ],
      );
    }
    await this.run("BEGIN BATCH DELETE FROM accounts WHERE id = 11; DELETE FROM accounts WHERE id = 12; APPLY BATCH");
    const left = await this.run("SELECT id FROM accounts WHERE id IN (10, 11, 12)");
    same("a batch as a statement", left.rowLength, 1);
    await refused("a counter in a batch of others", responseErrorCodes.invalid, "Cannot include a counter statement", () =>
      this.client.batch(["UPDATE counts SET n = n + 1 WHERE id = 'a'"]),
    );
  }

  async conditions() {
    const insert = "INSERT INTO accounts (id, owner, city) VALUES (?, ?, ?) IF NOT EXISTS";
    const first = await this.prepared(insert, [20, "ada", "Turku"]);
    same("a row that was not there", [first.wasApplied(), first.first().values()], [true, [true]]);
    const second = await this.prepared(insert, [20, "bob", "Oulu"]);
    same(
      "one that was",
      [second.wasApplied(), { ...second.first() }],
      [false, { "[applied]": false, id: 20, city: "Turku", owner: "ada" }],
    );
    const update = "UPDATE accounts SET owner = ? WHERE id = ? IF owner = ?";
    same("another owner", (await this.prepared(update, ["eve", 20, "mallory"])).first().values(), [false, "ada"]);
    same("the owner", (await this.prepared(update, ["eve", 20, "ada"])).first().values(), [true]);
    same("IF EXISTS", (await this.run("DELETE FROM accounts WHERE id = 21 IF EXISTS")).wasApplied(), false);
    const batch = await this.client.batch(
      [
        { query: insert, params: [20, "zoe", "Espoo"] },
        { query: "UPDATE accounts SET city = ? WHERE id = ?", params: ["Espoo", 20] },
      ],
      { prepare: true },
    );
    same("a batch that does not hold", batch.wasApplied(), false);
    const found = await this.run("SELECT owner, city FROM accounts WHERE id = 20");
    same("what is there", found.first().values(), ["eve", "Turku"]);
  }

  async counters() {
    await this.prepared("UPDATE counts SET n = n + ? WHERE id = ?", [5, "a"]);
    await this.client.batch([{ query: "UPDATE counts SET n = n - ? WHERE id = 'a'", params: [2] }], {
      prepare: true,
      counter: true,
    });
    same("a counter", values((await this.run("SELECT id, n FROM counts")).first()), ["a", "3"]);
  }

  async paging() {
    const insert = "INSERT INTO numbers (part, number, square) VALUES (?, ?, ?)";
    const batches = [];
    for (let part = 0; part < PARTITIONS; part += 1) {
      for (let start = 0; start < ROWS_EACH; start += 100) {
        batches.push([part, start]);
      }
    }
    const write = async () => {
      while (batches.length > 0) {
        const [part, start] = batches.pop();
        const queries = Array.from({ length: 100 }, (_, place) => {
          const number = start + place;
          return { query: insert, params: [part, number, number * number] };
        });
        await this.client.batch(queries, { prepare: true, logged: false });
      }
    };
    await Promise.all(Array.from({ length: 32 }, write));

    const next = new Map();
    let [rows, pages, sum] = [0, 0, 0];
    let state;
    do {
      const page = await this.prepared("SELECT part, number, square FROM numbers", [], {
        fetchSize: PAGE,
        pageState: state,
      });
      for (const { part, number, square } of page.rows) {
        assert.equal(number, next.get(part) ?? 0, `the next row of ${part}`);
        next.set(part, number + 1);
        sum += square.toNumber();
      }
      rows += page.rowLength;
      pages += 1;
      state = page.pageState;
    } while (state);
    same("rows, all in order", rows, PARTITIONS * ROWS_EACH);
    same("each of them", [...next.values()], new Array(PARTITIONS).fill(ROWS_EACH));
    let squares = 0;
    for (let number = 0; number < ROWS_EACH; number += 1) {
      squares += number * number;
    }
    same("their sum", sum, PARTITIONS * squares);
    const full = (PARTITIONS * ROWS_EACH) / PAGE;
    same("pages", pages === full || pages === full + 1, true);
    let streamed = 0;
    for await (const row of await this.client.stream("SELECT number FROM numbers WHERE part = ?", [7], {
      prepare: true,
      fetchSize: 1000,
    })) {
      streamed += row.number;
    }
    same("a stream of pages", streamed, (ROWS_EACH * (ROWS_EACH - 1)) / 2);
    const backwards = [];
    const result = await this.run(
      "SELECT number FROM numbers WHERE part = 7 ORDER BY number DESC LIMIT 2500",
      [],
      { fetchSize: 1000 },
    );
    for await (const { number } of result) {
      backwards.push(number);
    }
    same(
      "pages backwards, up to a limit",
      backwards,
      Array.from({ length: 2500 }, (_, place) => ROWS_EACH - 1 - place),
    );
  }

  async tokenRanges() {
    const [low, high] = TOKENS[this.partitioner];
    const select =
      "SELECT DISTINCT part, token(part) AS t FROM numbers WHERE token(part) > ? AND token(part) <= ?";
    const found = [];
    const at = (step) => low + ((high - low) * step) / 16n;
    const value = this.partitioner === "Murmur3Partitioner" ? Long.fromString : Integer.fromString;
    for (let step = 0n; step < 16n; step += 1n) {
      const bounds = [at(step), at(step + 1n)];
      const result = await this.prepared(
        select,
        bounds.map((bound) => value(bound.toString())),
      );
      for (const { part, t } of result.rows) {
        const token = BigInt(t.toString());
        assert.ok(bounds[0] < token && token <= bounds[1], `the token of ${part}`);
        found.push(part);
      }
    }
    same(
      "all partitions, by their tokens",
      found.sort((one, other) => one - other),
      Array.from({ length: PARTITIONS }, (_, part) => part),
    );
  }

  async times() {
    await this.run("INSERT INTO accounts (id, owner) VALUES (30, 'short') USING TTL 1000");
    const [written, left] = (await this.run("SELECT writetime(owner), ttl(owner) FROM accounts WHERE id = 30"))
      .first()
      .values();
    same("when it was written", Math.abs(written.toNumber() / 1000 - Date.now()) < 60000, true);
    same("time left", left > 900 && left <= 1000, true);
    await this.run("INSERT INTO accounts (id, owner) VALUES (31, 'new')", [], { timestamp: 2000 });
    await this.run("INSERT INTO accounts (id, owner) VALUES (31, 'old')", [], { timestamp: 1000 });
    const found = await this.run("SELECT owner, writetime(owner) FROM accounts WHERE id = 31");
    same("times of the client's own", values(found.first()), ["new", "2000"]);
    for (const level of ["one", "quorum", "localQuorum", "all", "localOne", "serial"]) {
      const read = await this.run("SELECT owner FROM accounts WHERE id = 31", [], { consistency: consistencies[level] });
      same(`read at ${level}`, read.first().owner, "new");
    }
  }

  async schemaRead() {
    const { metadata } = this.client;
    await metadata.refreshKeyspace(KEYSPACE);
    same("replication", metadata.keyspaces[KEYSPACE].strategy.split(".").pop(), "SimpleStrategy");
    const everything = await metadata.getTable(KEYSPACE, "everything");
    same("columns", everything.columns.map(({ name }) => name).sort(), [...COLUMNS, "id"].sort());
    same(
      "their types",
      ["a_bigint", "a_list", "a_map", "an_address"].map((name) => everything.columnsByName[name].type.code),
      [types.dataTypes.bigint, types.dataTypes.list, types.dataTypes.map, types.dataTypes.udt],
    );
    const posts = await metadata.getTable(KEYSPACE, "posts");
    same(
      "keys",
      [posts.partitionKeys, posts.clusteringKeys].map((keys) => keys.map(({ name }) => name)),
      [["author", "year"], ["written"]],
    );
    same("the clustering order", posts.clusteringOrder, ["DESC"]);
    same("static ones", posts.staticColumns?.map(({ name }) => name) ?? ["motto"], ["motto"]);
    const accounts = await metadata.getTable(KEYSPACE, "accounts");
    same(
      "an index",
      accounts.indexes.map(({ name, target }) => [name, target]),
      [["by_city", "city"]],
    );
    const address = await metadata.getUdt(KEYSPACE, "address");
    same(
      "a type",
      address.fields.map(({ name, type }) => [name, type.code]),
      [
        ["street", types.dataTypes.text],
        ["number", types.dataTypes.int],
      ].map(([name, code]) => [name, name === "street" ? address.fields[0].type.code : code]),
    );
    same("no such table", await metadata.getTable(KEYSPACE, "nowhere"), null);
  }

  async schemaEvents() {
    const other = client({ keyspace: KEYSPACE });
    const { metadata } = this.client;
    const columns = async () => (await metadata.getTable(KEYSPACE, "told"))?.columns.map(({ name }) => name) ?? null;
    same("no table yet", await columns(), null);
    await other.execute("CREATE TABLE told (id int PRIMARY KEY, a text)");
    await eventually("another session made a table", ["a", "id"], columns);
    await other.execute("ALTER TABLE told ADD b int");
    await eventually("and changed it", ["a", "b", "id"], columns);
    await other.execute("DROP TABLE told");
    await eventually("and dropped it", null, columns);
    const keyspace = `${KEYSPACE}_told`;
    await other.execute(
      `CREATE KEYSPACE ${keyspace} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
    );
    await eventually("a keyspace", true, () => keyspace in metadata.keyspaces);
    await other.execute(`DROP KEYSPACE ${keyspace}`);
    await eventually("no keyspace", false, () => keyspace in metadata.keyspaces);
    await other.shutdown();
  }

  async errors() {
    const codes = responseErrorCodes;
    await refused("no statement", codes.syntaxError, "line 1:0 no viable alternative", () =>
      this.run("SELEC * FROM posts"),
    );
    await refused("no table", codes.invalid, "unconfigured", () => this.run("SELECT * FROM nowhere"));
    await refused("no column", codes.invalid, "Undefined column name nothing", () => this.run("SELECT nothing FROM posts"));
    await refused("nothing to find it by", codes.invalid, "ALLOW FILTERING", () =>
      this.run("SELECT * FROM numbers WHERE number = 3"),
    );
    await refused("a table that is there", codes.alreadyExists, "Cannot add already existing", () =>
      this.run("CREATE TABLE accounts (id int PRIMARY KEY)"),
    );
    await refused("no such keyspace", codes.invalid, "Keyspace 'nowhere' does not exist", () => this.run("USE nowhere"));
    // A prepared statement goes on after the table has changed, and shows the change.
    const columns = async () =>
      (await this.prepared("SELECT * FROM accounts WHERE id = ?", [31])).columns.map(({ name }) => name);
    same("before", await columns(), ["id", "city", "owner"]);
    await this.run("ALTER TABLE accounts ADD phone text");
    same("after", await columns(), ["id", "city", "owner", "phone"]);
    await this.run("DROP TABLE accounts");
    await this.run("CREATE TABLE accounts (id int PRIMARY KEY, name text)");
    same("and when it is there again", await columns(), ["id", "name"]);
  }
}

new Scenario().play().then(
  () => console.log(`${checks} checks`),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
