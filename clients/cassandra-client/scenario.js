// A post office on cassandra-client 0.15.2: its schema in calls of the interface, and, with --cql, the rest in CQL 2.
"use strict";

const assert = require("node:assert/strict");
const { promisify } = require("node:util");
const { CfDef, ColumnDef, Connection, KsDef, PooledConnection, System } = require("cassandra-client");
const types = require("cassandra-client/lib/gen-nodejs/cassandra_types");

const [host, port, wish] = process.argv.slice(2);
const MARSHAL = "org.apache.cassandra.db.marshal.";

let checks = 0;

function check(what, found, expected) {
  checks += 1;
  assert.deepEqual(found, expected, what);
}

async function refused(what, call) {
  await assert.rejects(call, what);
  checks += 1;
}

// Each method of an object as one that returns a promise.
function promising(object, ...methods) {
  return Object.fromEntries(methods.map((method) => [method, promisify(object[method]).bind(object)]));
}

async function createSchema(keyspace) {
  const system = new System(`${host}:${port}`);
  const { addKeyspace, describeKeyspace, close } = promising(system, "addKeyspace", "describeKeyspace", "close");
  const family = (name, comparator_type, more) =>
    new CfDef({
      keyspace,
      name,
      comparator_type,
      column_type: "Standard",
      key_validation_class: "UTF8Type",
      ...more,
    });
  const definition = new KsDef({
    name: keyspace,
    strategy_class: "org.apache.cassandra.locator.SimpleStrategy",
    strategy_options: { replication_factor: "1" },
    cf_defs: [
      family("Letters", "UTF8Type", {
        default_validation_class: "UTF8Type",
        column_metadata: [
          new ColumnDef({ name: "grams", validation_class: "LongType" }),
          new ColumnDef({ name: "town", validation_class: "UTF8Type", index_type: 0, index_name: "by_town" }),
        ],
      }),
      family("Tours", "LongType", { default_validation_class: "UTF8Type" }),
      family("Stamps", "UTF8Type", { default_validation_class: "CounterColumnType" }),
    ],
  });
  check("the schema has a version", typeof (await addKeyspace(definition)), "string");
  await refused("a keyspace that is there", () => addKeyspace(definition));
  await refused("a keyspace that is not", () => describeKeyspace("Nowhere"));
  const found = await describeKeyspace(keyspace);
  check("its column families", found.cf_defs.map(({ name }) => name).sort(), ["Letters", "Stamps", "Tours"]);
  await close();
}

// What the driver asks when it connects, and how it means to read values then.
async function connect(keyspace) {
  const connection = new Connection({ host, port: Number(port), keyspace });
  await promising(connection, "connect").connect();
  const { Letters, Stamps, Tours } = connection.validators;
  check(
    "types of keys and names",
    [Letters.key, Letters.comparator, Tours.comparator],
    [`${MARSHAL}UTF8Type`, `${MARSHAL}UTF8Type`, `${MARSHAL}LongType`],
  );
  check("types of values", Letters.specificValidators, { grams: `${MARSHAL}LongType`, town: `${MARSHAL}UTF8Type` });
  check("a counter", Stamps.defaultValidator, `${MARSHAL}CounterColumnType`);
  await refused("an unknown keyspace", () =>
    promising(new Connection({ host, port: Number(port), keyspace: "Nowhere" }), "connect").connect(),
  );
  return connection;
}

// The driver's own client of the interface.
async function callsOfTheInterface(connection) {
  const client = promising(connection.client, "insert", "get_slice", "get_indexed_slices", "describe_version");
  const one = types.ConsistencyLevel.ONE;
  const letters = new types.ColumnParent({ column_family: "Letters" });
  const all = new types.SlicePredicate({
    slice_range: new types.SliceRange({ start: "", finish: "", reversed: false, count: 10 }),
  });
  for (const [key, town] of [
    ["a", "Bonn"],
    ["b", "Rome"],
    ["c", "Bonn"],
  ]) {
    await client.insert(key, letters, new types.Column({ name: "town", value: town, timestamp: 1 }), one);
  }
  const [{ column }] = await client.get_slice("b", letters, all, one);
  check("a column", [column.name.toString(), column.value.toString()], ["town", "Rome"]);
  const expression = new types.IndexExpression({ column_name: "town", op: types.IndexOperator.EQ, value: "Bonn" });
  const clause = new types.IndexClause({ expressions: [expression], start_key: "", count: 10 });
  const rows = await client.get_indexed_slices(letters, clause, all, one);
  check("by town", rows.map(({ key }) => key.toString()).sort(), ["a", "c"]);
  check("a version", (await client.describe_version()).split(".").length, 3);
}

const names = (row) => row.cols.map(({ name }) => name.toString());
const values = (row) => row.cols.map(({ value }) => value.toString());

async function cql(keyspace) {
  const pool = new PooledConnection({ hosts: [`${host}:${port}`], keyspace });
  const { execute, shutdown } = promising(pool, "execute", "shutdown");
  await execute("UPDATE Letters SET town=?, grams=? WHERE KEY=?", ["Oslo", 20, "d"]);
  await execute("INSERT INTO Letters (KEY, town, grams) VALUES (?, ?, ?)", ["e", "Oslo", 500]);
  let rows = await execute("SELECT grams, town FROM Letters WHERE KEY=?", ["d"]);
  check(
    "a row",
    [names(rows[0]), values(rows[0])],
    [
      ["grams", "town"],
      ["20", "Oslo"],
    ],
  );
  rows = await execute("SELECT town FROM Letters WHERE town=?", ["Oslo"]);
  check("by town", rows.map(({ key }) => key.toString()).sort(), ["d", "e"]);
  rows = await execute("SELECT town FROM Letters WHERE town=? AND grams>?", ["Oslo", 100]);
  check(
    "and weight",
    rows.map(({ key }) => key.toString()),
    ["e"],
  );
  for (const stop of [30, 10, 20]) {
    await execute("UPDATE Tours SET ?=? WHERE KEY=?", [stop, `stop ${stop}`, "north"]);
  }
  rows = await execute("SELECT FIRST 2 REVERSED ?..? FROM Tours WHERE KEY=?", [100, 0, "north"]);
  check("a range, backwards", values(rows[0]), ["stop 30", "stop 20"]);
  await execute("UPDATE Stamps SET sold=sold+5 WHERE KEY='red'", []);
  await execute("UPDATE Stamps SET sold=sold-2 WHERE KEY='red'", []);
  rows = await execute("SELECT sold FROM Stamps WHERE KEY='red'", []);
  check("a counter", values(rows[0]), ["3"]);
  rows = await execute("SELECT COUNT(*) FROM Letters WHERE town=?", ["Oslo"]);
  check("a count", values(rows[0]), ["2"]);
  await execute("DELETE town FROM Letters WHERE KEY=?", ["d"]);
  rows = await execute("SELECT * FROM Letters WHERE KEY=?", ["d"]);
  check("after a deletion", names(rows[0]).includes("town"), false);
  await execute("TRUNCATE Letters", []);
  rows = await execute("SELECT town FROM Letters WHERE town=?", ["Oslo"]);
  check("nothing left", rows.length, 0);
  await refused("nonsense", () => execute("SELECT nonsense", []));
  await shutdown();
}

async function main() {
  const keyspace = `Post${process.pid}x${Date.now() % 1e6}`;
  await createSchema(keyspace);
  const connection = await connect(keyspace);
  await callsOfTheInterface(connection);
  if (wish === "--cql") {
    await cql(keyspace);
  }
  await promisify(connection.client.system_drop_keyspace).call(connection.client, keyspace);
  await promising(connection, "close").close();
}

main().then(
  () => console.log(`${checks} checks`),
  (error) => {
    console.error(error);
    console.log(`${checks} checks`);
    process.exit(1);
  },
);
