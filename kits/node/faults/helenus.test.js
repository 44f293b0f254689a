// What helenus reports for every fault of the server.
"use strict";

process.EventEmitter = require("node:events").EventEmitter;
const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const { afterEach, beforeEach, test } = require("node:test");
const { setTimeout: sleep } = require("node:timers/promises");
const { promisify } = require("node:util");
const helenus = require("helenus");
const { useThriftstore } = require("thriftstore/testing");

const TIMEOUT_MS = 400;

const current = useThriftstore({ compat: "1.2" });
let pool;
let family;

beforeEach(async () => {
  pool = new helenus.ConnectionPool({
    hosts: [current.database.thrift],
    keyspace: "Keyspace1",
    timeout: TIMEOUT_MS,
  });
  pool.on("error", () => {});
  const keyspace = await promisify(pool.connect).call(pool);
  family = await promisify(keyspace.get).call(keyspace, "Standard2");
  await insert("old");
  // Timestamps are of milliseconds, and the next write is to replace this one.
  await sleep(3);
});
afterEach(() => pool.close());

const insert = (value) => promisify(family.insert).call(family, "k", { c: value });

async function value() {
  const row = await promisify(family.get).call(family, "k");
  return String(row.get("c").value);
}

// Returns the value in the database, without helenus, whose connection may be closed.
async function written() {
  const [found] = (await current.database.dump()).column_families;
  return found.rows[0].cells[0].value;
}

// Reads in another process, which helenus may end.
function readInProcess() {
  const program = [`${__dirname}/read_with_helenus.js`, current.database.thrift];
  return spawnSync(process.execPath, program, { encoding: "utf8", timeout: 10000 });
}

const ERRORS = [
  ["unavailable", "HelenusUnavailableException", ""],
  ["timed_out", "HelenusTimedOutException", ""],
  ["invalid_request", "HelenusInvalidRequestException", "a fault that a test has set"],
  // These are no exceptions of batch_mutate and get_slice.
  ["not_found", "HelenusTApplicationException", "not found"],
  ["schema_disagreement", "HelenusUnavailableException", ""],
  ["authentication", "HelenusTApplicationException", "a fault that a test has set"],
  ["authorization", "HelenusTApplicationException", "a fault that a test has set"],
  ["overloaded", "HelenusUnavailableException", ""],
  ["internal", "HelenusTApplicationException", "a fault that a test has set"],
];

for (const [error, name, message] of ERRORS) {
  for (const applied of [false, true]) {
    test(`${error} of a write${applied ? " that was applied" : ""}`, async () => {
      const rule = { operation: "write", key: "k", error, applied };
      await current.database.faults.during(rule, () => assert.rejects(insert("new"), { name, message }));
      assert.equal(await value(), applied ? "new" : "old");
    });
  }

  test(`${error} of a read`, async () => {
    const rule = { method: "get_slice", error };
    await current.database.faults.during(rule, () => assert.rejects(value(), { name, message }));
    assert.equal(await value(), "old");
  });
}

for (const reply of ["none", "closed", "half"]) {
  test(`a reply that is lost: ${reply}`, async () => {
    // helenus waits for its time limit, even if the connection is closed, and then uses the connection no more.
    await current.database.faults.during({ operation: "write", reply }, () =>
      assert.rejects(insert("new"), { message: "Read Timed Out" }),
    );
    assert.equal(await written(), "new");
    await assert.rejects(value(), { name: "HelenusNoAvailableNodesException" });
  });
}

test("a reply and then the end of the connection", async () => {
  await current.database.faults.during({ operation: "write", reply: "closed_after" }, () => insert("new"));
  await sleep(50);
  await assert.rejects(value(), { name: "HelenusNoAvailableNodesException" });
  assert.equal(await written(), "new");
});

for (const reply of ["twice", "trickle"]) {
  test(`a reply that arrives: ${reply}`, async () => {
    await current.database.faults.during({ operation: "write", reply }, async (fault) => {
      await insert("new");
      assert.equal(await fault.hits(), 1);
    });
    assert.equal(await value(), "new");
  });
}

test("a reply that is garbage ends the process", async () => {
  await current.database.faults.during({ method: "get_slice", reply: "rubbish" }, () => {
    const run = readInProcess();
    assert.notEqual(run.status, 0);
    assert.match(run.stdout + run.stderr, /BAD: /);
    assert.doesNotMatch(run.stdout, /found/);
  });
  assert.match(readInProcess().stdout, /found old/);
});

test("delays", async () => {
  const { faults } = current.database;
  await faults.during({ method: "get_slice", delayMs: [20, 40] }, async () => assert.equal(await value(), "old"));
  await faults.during({ method: "get_slice", delayMs: 2000 }, () =>
    assert.rejects(value(), { message: "Read Timed Out" }),
  );
});

test("a client whose connections are refused gets no answer", async () => {
  await current.database.refuseConnections(async () => {
    // helenus calls nothing back, and nothing is left to do.
    const run = readInProcess();
    assert.deepEqual([run.stdout, run.stderr, run.status], ["", "", 0]);
    // An open connection stays open.
    assert.equal(await value(), "old");
  });
  assert.match(readInProcess().stdout, /found old/);
});

test("after a restart there is no connection", async () => {
  await current.database.restart();
  await sleep(50);
  await assert.rejects(insert("new"), { name: "HelenusNoAvailableNodesException" });
  assert.equal(await written(), "old");
});
