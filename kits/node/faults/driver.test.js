// What the DataStax driver for Node reports for every fault of the server.
"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const { afterEach, beforeEach, test } = require("node:test");
const { setTimeout: sleep } = require("node:timers/promises");
const { Client, errors, policies, types } = require("cassandra-driver");
const { useThriftstore } = require("thriftstore/testing");

const TIMEOUT_MS = 500;
const SCHEMA = `
CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE TABLE shop.carts (id int PRIMARY KEY, items text);
INSERT INTO shop.carts (id, items) VALUES (1, 'tea');
`;

const current = useThriftstore({ schema: (server) => server.cql(SCHEMA) });
let client;

// The driver does not try again, and connects again soon.
function newClient() {
  return new Client({
    contactPoints: [current.database.native],
    localDataCenter: "datacenter1",
    socketOptions: { readTimeout: TIMEOUT_MS, connectTimeout: TIMEOUT_MS },
    policies: {
      retry: new policies.retry.FallthroughRetryPolicy(),
      reconnection: new policies.reconnection.ConstantReconnectionPolicy(20),
    },
  });
}

beforeEach(async () => {
  client = newClient();
  await client.connect();
});
afterEach(() => client.shutdown());

const write = () => client.execute("INSERT INTO shop.carts (id, items) VALUES (1, 'coffee')");

async function read() {
  return (await client.execute("SELECT items FROM shop.carts WHERE id = 1")).rows[0].items;
}

// Returns the value in the database, without the driver, whose connection may be closed.
async function written() {
  const [carts] = (await current.database.dump()).column_families;
  return carts.rows[0].cells.map((cell) => cell.value).find((value) => typeof value === "string" && value !== "");
}

// Waits until the driver has connected again, and returns what a call returns.
async function eventually(call) {
  for (let tries = 0; tries < 200; tries += 1) {
    try {
      return await call();
    } catch (error) {
      assert.ok(error instanceof errors.NoHostAvailableError || error instanceof errors.DriverError, error);
      await sleep(20);
    }
  }
  return call();
}

const { responseErrorCodes: codes } = types;
const ERRORS = [
  ["unavailable", codes.unavailableException, codes.unavailableException],
  ["timed_out", codes.writeTimeout, codes.readTimeout],
  ["invalid_request", codes.invalid, codes.invalid],
  // The native protocol has no such errors.
  ["not_found", codes.serverError, codes.serverError],
  ["schema_disagreement", codes.serverError, codes.serverError],
  ["authentication", codes.badCredentials, codes.badCredentials],
  ["authorization", codes.unauthorized, codes.unauthorized],
  ["overloaded", codes.overloaded, codes.overloaded],
  ["internal", codes.serverError, codes.serverError],
];

for (const [error, ofWrite, ofRead] of ERRORS) {
  for (const applied of [false, true]) {
    test(`${error} of a write${applied ? " that was applied" : ""}`, async () => {
      const rule = { statement: "INSERT", columnFamily: "carts", key: "1", error, applied };
      await current.database.faults.during(rule, () =>
        assert.rejects(write(), { name: "ResponseError", code: ofWrite }),
      );
      assert.equal(await read(), applied ? "coffee" : "tea");
    });
  }

  test(`${error} of a read`, async () => {
    await current.database.faults.during({ operation: "read", columnFamily: "carts", error }, () =>
      assert.rejects(read(), { name: "ResponseError", code: ofRead }),
    );
    assert.equal(await read(), "tea");
  });
}

test("a reply that does not come", async () => {
  await current.database.faults.during({ operation: "write", reply: "none" }, () =>
    assert.rejects(write(), { name: "OperationTimedOutError" }),
  );
  assert.equal(await read(), "coffee");
});

for (const reply of ["closed", "half"]) {
  test(`a connection that ends: ${reply}`, async () => {
    await current.database.faults.during({ operation: "write", reply }, () =>
      assert.rejects(write(), { name: "DriverError", message: "Socket was closed" }),
    );
    assert.equal(await written(), "coffee");
    assert.equal(await eventually(read), "coffee");
  });
}

for (const reply of ["twice", "trickle", "closed_after"]) {
  test(`a reply that arrives: ${reply}`, async () => {
    await current.database.faults.during({ operation: "write", reply }, async (fault) => {
      await write();
      assert.equal(await fault.hits(), 1);
    });
    assert.equal(await eventually(read), "coffee");
  });
}

test("garbage instead of rows", async () => {
  await current.database.faults.during({ operation: "read", reply: "rubbish" }, async () => {
    // The driver returns a result without rows.
    const result = await client.execute("SELECT items FROM shop.carts WHERE id = 1");
    assert.equal(result.rows, undefined);
  });
  assert.equal(await eventually(read), "tea");
});

test("delays", async () => {
  const { faults } = current.database;
  await faults.during({ operation: "read", delayMs: [20, 40] }, async () => assert.equal(await read(), "tea"));
  await faults.during({ operation: "read", delayMs: 2000 }, () =>
    assert.rejects(read(), { name: "OperationTimedOutError" }),
  );
});

// The driver waits for ever if its connection ends before it has sent anything, and fails if it ends later.
test("a client whose connections are refused does not connect", async () => {
  const program = [`${__dirname}/connect_with_driver.js`, current.database.native];
  const connect = (timeout) => spawnSync(process.execPath, program, { timeout });
  await current.database.refuseConnections(async () => {
    const { error, status } = connect(3 * TIMEOUT_MS);
    assert.ok(error?.code === "ETIMEDOUT" || status > 0, `${error} ${status}`);
    // An open connection stays open.
    assert.equal(await read(), "tea");
  });
  // A busy machine needs a while to start Node.
  assert.equal(connect(60_000).status, 0);
});

test("the driver connects again after a restart, and prepares again", async () => {
  const insert = () =>
    client.execute("INSERT INTO shop.carts (id, items) VALUES (?, 'coffee')", [1], { prepare: true });
  await insert();
  await current.database.restart();
  await assert.rejects(write(), errors.DriverError);
  await eventually(insert);
  assert.equal(await read(), "coffee");
});
