// A weather service on helenus 0.6.10: it creates its schema, then measures, looks back, counts and forgets.
"use strict";

const assert = require("node:assert/strict");
const { setTimeout: sleep } = require("node:timers/promises");
const { promisify } = require("node:util");
const helenus = require("helenus");
const types = require("helenus/lib/cassandra/cassandra_types");

let checks = 0;

function check(what, found, expected) {
  checks += 1;
  assert.deepEqual(found, expected, what);
}

async function refused(what, name, call) {
  await assert.rejects(call, (error) => {
    check(what, error.name, name);
    return true;
  });
}

// Each method of an object as one that returns a promise.
function promising(object, ...methods) {
  const found = {};
  for (const method of methods) {
    found[method] = promisify(object[method]).bind(object);
  }
  return found;
}

function entries(row) {
  return Array.from({ length: row.length }, (_, place) => [row[place].name, row[place].value]);
}

// Timestamps are of milliseconds: what is to replace a write has to come later than it.
const tick = () => sleep(3);

class Weather {
  constructor(host, port) {
    this.keyspace = `Weather${process.pid}x${Date.now() % 1e6}`;
    this.pool = new helenus.ConnectionPool({ hosts: [`${host}:${port}`], timeout: 10000 });
    this.pool.on("error", (error) => {
      throw error;
    });
  }

  async run() {
    const pool = promising(this.pool, "connect", "use", "createKeyspace", "dropKeyspace");
    await pool.connect();
    await pool.createKeyspace(this.keyspace);
    await refused("a keyspace that is there", "HelenusInvalidRequestException", () =>
      pool.createKeyspace(this.keyspace),
    );
    this.raw = await pool.use(this.keyspace);
    this.execute = promisify(this.raw.connection.execute).bind(this.raw.connection);
    await this.createSchema();
    const expires = await this.startExpiring();
    for (const part of [
      this.columns,
      this.slices,
      this.typed,
      this.composites,
      this.reversed,
      this.indexed,
      this.counters,
      this.superColumns,
      this.scans,
    ]) {
      await part.call(this);
    }
    await this.endExpiring(expires);
    await this.dropSchema(pool);
    this.pool.close();
  }

  async family(name) {
    const family = await promisify(this.raw.get).call(this.raw, name);
    return { raw: family, ...promising(family, "insert", "get", "count", "remove", "truncate", "getIndexed", "incr") };
  }

  async createSchema() {
    const keyspace = promising(this.raw, "createColumnFamily", "describe");
    const text = {
      key_validation_class: "UTF8Type",
      comparator_type: "UTF8Type",
      default_validation_class: "UTF8Type",
    };
    await keyspace.createColumnFamily("Stations", {
      ...text,
      comment: "where we measure",
      columns: [
        { name: "height", validation_class: "LongType" },
        { name: "opened", validation_class: "DateType" },
        { name: "latitude", validation_class: "DoubleType" },
        { name: "manned", validation_class: "BooleanType" },
        { name: "id", validation_class: "UUIDType" },
        { name: "country", validation_class: "UTF8Type", index_type: 0, index_name: "by_country" },
      ],
    });
    await keyspace.createColumnFamily("Days", { ...text, comparator_type: "LongType" });
    await keyspace.createColumnFamily("Readings", {
      ...text,
      comparator_type: "CompositeType(LongType, UTF8Type)",
      default_validation_class: "DoubleType",
    });
    await keyspace.createColumnFamily("Latest", { ...text, comparator_type: "LongType(reversed=true)" });
    await keyspace.createColumnFamily("Visitors", { ...text, default_validation_class: "CounterColumnType" });
    await keyspace.createColumnFamily("Reports", { ...text, column_type: "Super", subcomparator_type: "UTF8Type" });
    await refused("a type that nobody knows", "HelenusInvalidRequestException", () =>
      keyspace.createColumnFamily("Nonsense", { comparator_type: "NonsenseType" }),
    );
    const described = await keyspace.describe();
    check("the column families", Object.keys(described).sort(), [
      "Days",
      "Latest",
      "Readings",
      "Reports",
      "Stations",
      "Visitors",
    ]);
    check(
      "what is special",
      [described.Reports.isSuper, described.Visitors.isCounter, described.Days.isSuper],
      [true, true, false],
    );
    check(
      "a comparator",
      described.Readings.definition.comparator_type,
      "org.apache.cassandra.db.marshal.CompositeType(" +
        "org.apache.cassandra.db.marshal.LongType,org.apache.cassandra.db.marshal.UTF8Type)",
    );
    check("a comment", described.Stations.definition.comment, "where we measure");
  }

  async startExpiring() {
    const stations = await this.family("Stations");
    await stations.insert("warning", { always: "mind the step", today: "storm" });
    await tick();
    await stations.insert("warning", { today: "gale" }, { ttl: 2 });
    return Date.now() + 3200;
  }

  async endExpiring(when) {
    const stations = await this.family("Stations");
    await sleep(Math.max(0, when - Date.now()));
    check("what expired is gone, with what it replaced", entries(await stations.get("warning")), [
      ["always", "mind the step"],
    ]);
  }

  async columns() {
    const stations = await this.family("Stations");
    await stations.insert("Tromsø", { country: "no", wind: "strong", snow: "", größe: "klein" });
    const row = await stations.get("Tromsø");
    check("a row, sorted", entries(row), [
      ["country", "no"],
      ["größe", "klein"],
      ["snow", ""],
      ["wind", "strong"],
    ]);
    check("its key", row.key, "Tromsø");
    check("a time", Math.abs(row.get("wind").timestamp - Date.now()) < 60000, true);
    check("by names", entries(await stations.get("Tromsø", { columns: ["wind", "country", "nothing"] })), [
      ["country", "no"],
      ["wind", "strong"],
    ]);
    // remove() sends a key that is not ASCII in the wrong bytes.
    await stations.insert("Narvik", { country: "no", wind: "weak", snow: "" });
    await stations.remove("Narvik", "snow");
    check("without one", (await stations.get("Narvik")).length, 2);
    await stations.remove("Narvik");
    check("without all", (await stations.get("Narvik")).length, 0);
    check("a row that never was", (await stations.get("nowhere")).length, 0);
    await refused("an empty key", "HelenusInvalidRequestException", () => stations.insert("", { a: "b" }));
    await assert.rejects(() => this.family("Nowhere"), /Nowhere Not Found/);
  }

  async slices() {
    const days = await this.family("Days");
    const columns = [];
    // It cannot write numbers below zero, nor dates before 1970.
    for (let day = 299; day >= 0; day -= 1) {
      columns.push(new helenus.Column(day, `day ${day}`));
    }
    await days.insert("oslo", columns);
    const names = async (options) => entries(await days.get("oslo", options)).map(([name]) => name);
    check("numbers in order", await names({ max: 3 }), [0, 1, 2]);
    check("a range", await names({ start: 10, end: 12 }), [10, 11, 12]);
    check("backwards", await names({ start: 12, end: 1, max: 3, reversed: true }), [12, 11, 10]);
    check("a hundred if nothing is said", (await names({})).length, 100);
    check("a count", await days.count("oslo", { start: 1, end: 20 }), 20);
    await refused("the wrong way round", "HelenusInvalidRequestException", () =>
      days.get("oslo", { start: 5, end: 1 }),
    );
    await days.truncate();
    check("nothing after truncate", (await days.get("oslo")).length, 0);
  }

  async typed() {
    const stations = await this.family("Stations");
    const opened = new Date(Date.UTC(2004, 0, 2, 3, 4, 5));
    const id = new helenus.UUID("e491d6ac-b124-4795-9ab3-c8a0cf92615c");
    await stations.insert("typed", { height: 12, opened, latitude: 69.65, manned: true, id });
    const row = await stations.get("typed");
    check(
      "values of many types",
      [
        row.get("height").value,
        row.get("opened").value,
        row.get("latitude").value,
        row.get("manned").value,
        row.get("id").value.toString(),
      ],
      [12, opened, 69.65, true, id.toString()],
    );
    await refused("a number of three bytes", "HelenusInvalidRequestException", () =>
      this.execute(
        "insert",
        "typed",
        new types.ColumnParent({ column_family: "Stations" }),
        new types.Column({ name: "height", value: "abc", timestamp: 1 }),
        types.ConsistencyLevel.ONE,
      ),
    );
  }

  async composites() {
    const readings = await this.family("Readings");
    const at = (hour, what, value) => new helenus.Column([hour, what], value);
    await readings.insert("oslo", [at(12, "wind", 3.5), at(3, "wind", 1), at(12, "rain", 0.25), at(13, "rain", -1)]);
    check("composite names in order", entries(await readings.get("oslo")), [
      [[3, "wind"], 1],
      [[12, "rain"], 0.25],
      [[12, "wind"], 3.5],
      [[13, "rain"], -1],
    ]);
    check("those with a beginning", entries(await readings.get("oslo", { start: [12], end: [12] })), [
      [[12, "rain"], 0.25],
      [[12, "wind"], 3.5],
    ]);
    check("all after it", entries(await readings.get("oslo", { start: [[12, false]] })), [[[13, "rain"], -1]]);
  }

  async reversed() {
    const latest = await this.family("Latest");
    await latest.insert(
      "oslo",
      [1, 3, 2].map((day) => new helenus.Column(day, `day ${day}`)),
    );
    check("a reversed comparator", entries(await latest.get("oslo")), [
      [3, "day 3"],
      [2, "day 2"],
      [1, "day 1"],
    ]);
    check("a range of it", entries(await latest.get("oslo", { start: 2 })), [
      [2, "day 2"],
      [1, "day 1"],
    ]);
  }

  async indexed() {
    const stations = await this.family("Stations");
    for (const [name, country, height] of [
      ["a", "se", 10],
      ["b", "is", 20],
      ["c", "se", 30],
      ["d", "se", 40],
    ]) {
      await stations.insert(name, { country, height });
    }
    const keys = async (...fields) => (await stations.getIndexed({ fields })).map((row) => row.key).sort();
    const swedish = { column: "country", operator: "EQ", value: "se" };
    check("by country", await keys(swedish), ["a", "c", "d"]);
    check("and height", await keys(swedish, { column: "height", operator: "GTE", value: 30 }), ["c", "d"]);
    await tick();
    await stations.insert("c", { country: "is" });
    await stations.remove("d");
    check("after changes", await keys(swedish), ["a"]);
    check("where it went", await keys({ ...swedish, value: "is" }), ["b", "c"]);
    await refused("without an index", "HelenusInvalidRequestException", () =>
      keys({ column: "height", operator: "EQ", value: 10 }),
    );
  }

  async counters() {
    const visitors = await this.family("Visitors");
    await visitors.incr("oslo", { adults: 5, children: 2 });
    await visitors.incr("oslo", { adults: 10 }); // a negative number would never be written
    check("sums", entries(await visitors.get("oslo")), [
      ["adults", 15],
      ["children", 2],
    ]);
    check("how many there are", await visitors.count("oslo", {}), 2);
    const stations = await this.family("Stations");
    await refused("to add to what is no counter", "HelenusInvalidRequestException", () =>
      stations.incr("oslo", { adults: 5 }),
    );
  }

  // helenus has no words for super columns, so these are the calls of the interface.
  async superColumns() {
    const column = (name, value) => new types.Column({ name, value, timestamp: 10 });
    const report = (name, ...columns) =>
      new types.Mutation({
        column_or_supercolumn: new types.ColumnOrSuperColumn({
          super_column: new types.SuperColumn({ name, columns }),
        }),
      });
    await this.execute(
      "batch_mutate",
      {
        oslo: {
          Reports: [
            report("monday", column("text", "rain"), column("by", "ada")),
            report("friday", column("text", "sun")),
          ],
        },
        bergen: { Reports: [report("monday", column("text", "more rain"))] },
      },
      types.ConsistencyLevel.ONE,
    );
    const all = new types.SlicePredicate({
      slice_range: new types.SliceRange({ start: "", finish: "", reversed: false, count: 100 }),
    });
    const slice = (parent) =>
      this.execute(
        "get_slice",
        "oslo",
        new types.ColumnParent({ column_family: "Reports", ...parent }),
        all,
        types.ConsistencyLevel.ONE,
      );
    const text = (column) => [column.name.toString(), column.value.toString()];
    const whole = async () =>
      (await slice()).map(({ super_column: found }) => [found.name.toString(), found.columns.map(text)]);
    check("super columns", await whole(), [
      ["friday", [["text", "sun"]]],
      [
        "monday",
        [
          ["by", "ada"],
          ["text", "rain"],
        ],
      ],
    ]);
    check(
      "the columns of one",
      (await slice({ super_column: "monday" })).map(({ column: found }) => text(found)),
      [
        ["by", "ada"],
        ["text", "rain"],
      ],
    );
    const path = new types.ColumnPath({ column_family: "Reports", super_column: "monday", column: "by" });
    await this.execute("remove", "oslo", path, 11, types.ConsistencyLevel.ONE);
    path.column = undefined;
    path.super_column = "friday";
    await this.execute("remove", "oslo", path, 11, types.ConsistencyLevel.ONE);
    check("after removals", await whole(), [["monday", [["text", "rain"]]]]);
  }

  async scans() {
    const parent = new types.ColumnParent({ column_family: "Reports" });
    const predicate = new types.SlicePredicate({ column_names: ["monday"] });
    const open = Buffer.alloc(0); // an empty text would not be sent
    const range = new types.KeyRange({ start_key: open, end_key: open, count: 10 });
    const rows = await this.execute("get_range_slices", parent, predicate, range, types.ConsistencyLevel.ONE);
    check("all rows", rows.map((row) => row.key.toString()).sort(), ["bergen", "oslo"]);
    const found = await this.execute(
      "multiget_count",
      ["oslo", "nowhere"],
      parent,
      predicate,
      types.ConsistencyLevel.ONE,
    );
    check("counts of rows", { ...found }, { oslo: 1, nowhere: 0 });
  }

  async dropSchema(pool) {
    const keyspace = promising(this.raw, "dropColumnFamily", "describe");
    await keyspace.dropColumnFamily("Days");
    check("a column family less", Object.keys(await keyspace.describe()).includes("Days"), false);
    await pool.dropKeyspace(this.keyspace);
    await refused("the keyspace is gone", "HelenusNotFoundException", () =>
      this.execute("describe_keyspace", this.keyspace),
    );
  }
}

const [host, port] = process.argv.slice(2);
new Weather(host, port).run().then(
  () => console.log(`${checks} checks`),
  (error) => {
    console.error(error);
    console.log(`${checks} checks`);
    process.exit(1);
  },
);
