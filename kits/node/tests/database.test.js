// Reset, snapshots, data, clock, faults, requests and sandboxes, without a client library.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { describe, test } = require("node:test");
const { ControlError, Sandbox } = require("thriftstore");
const { useThriftstore } = require("thriftstore/testing");

const SHOP = `
CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE TABLE shop.carts (id int PRIMARY KEY, items text);
INSERT INTO shop.carts (id, items) VALUES (1, 'tea');
`;

const insert = (database, id, more = "") =>
  database.cql(`INSERT INTO shop.carts (id, items) VALUES (${id}, 'tea') ${more}`);

async function keys(database) {
  const families = (await database.dump()).column_families;
  const found = families.flatMap((family) => family.rows.map((row) => parseInt(row.key.hex, 16)));
  return found.sort();
}

for (const sandboxes of [false, true]) {
  describe(sandboxes ? "a sandbox" : "a server", () => {
    const current = useThriftstore({ sandboxes, schema: (server) => server.cql(SHOP) });

    for (const time of ["first", "second"]) {
      test(`a ${time} test begins with the schema and its rows`, async () => {
        assert.equal(current.database instanceof Sandbox, sandboxes);
        assert.deepEqual(await keys(current.database), [1]);
        await current.database.cql("DROP KEYSPACE shop");
      });
    }

    test("reset of data", async () => {
      await current.database.resetData();
      assert.deepEqual(await keys(current.database), []);
      await insert(current.database, 7);
      assert.deepEqual(await keys(current.database), [7]);
    });

    test("snapshots", async () => {
      const { database } = current;
      await insert(database, 2);
      await database.snapshot("two");
      await insert(database, 3);
      await database.restore("two");
      assert.deepEqual(await keys(database), [1, 2]);
      assert.deepEqual(
        (await database.snapshots()).map(({ name }) => name),
        ["two"],
      );
      await database.reset();
      assert.deepEqual(await database.snapshots(), []);
      await assert.rejects(database.restore("two"), ControlError);
    });

    test("files and rows", async () => {
      const { database } = current;
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), "kit-"));
      const dump = await database.dump();
      fs.writeFileSync(path.join(folder, "rows.json"), JSON.stringify(dump));
      fs.writeFileSync(path.join(folder, "more.cql"), "INSERT INTO shop.carts (id, items) VALUES (5, 'café')");
      await database.resetData();
      assert.equal((await database.write(dump)).rows, 1);
      assert.deepEqual(await database.dump(), dump);
      await database.resetData();
      await database.load(path.join(folder, "rows.json"));
      await database.load(path.join(folder, "more.cql"));
      assert.deepEqual(await keys(database), [1, 5]);
      await assert.rejects(database.load("rows.txt"), /extension/);
      fs.rmSync(folder, { recursive: true });
    });

    test("the server's sentence is the error", async () => {
      const mistake = current.database.cql("INSERT INTO nowhere.carts (id) VALUES (1)");
      await assert.rejects(mistake, (error) => error.status === 400 && /nowhere/.test(error.message));
    });

    test("the clock", async () => {
      const { clock } = current.database;
      await clock.freeze(new Date("2012-01-01"));
      assert.equal((await clock.state()).now, "2012-01-01T00:00:00.000Z");
      await clock.advance({ hours: 1, milliseconds: 500 });
      assert.equal((await clock.now()).toISOString(), "2012-01-01T01:00:00.500Z");
      await clock.unfreeze();
      assert.equal((await clock.state()).frozen, false);
      await clock.set("2030-01-01");
      await current.database.reset();
      assert.equal((await clock.state()).offset_ms, 0);
    });

    test("faults", async () => {
      const { faults } = current.database;
      await faults.set("lost", { method: "insert", columnFamily: "carts", error: "timed_out", applied: true });
      const [rule] = await faults.list();
      assert.equal(rule.name, "lost");
      assert.deepEqual(rule.rule.when, { method: "insert", column_family: "carts" });
      assert.equal(rule.rule.applied, true);
      await faults.during({ delayMs: [1, 5], probability: 0.5, seed: 7 }, async (slow) => {
        assert.equal((await faults.list()).length, 2);
        assert.deepEqual([await slow.met(), await slow.hits()], [0, 0]);
      });
      await faults.during({ error: "internal" }, () => current.database.reset());
      assert.deepEqual(await faults.list(), []);
      await assert.rejects(faults.add({ colour: "red", error: "internal" }), /colour/);
    });

    test("requests of a database without clients", async () => {
      const { requests } = current.database;
      assert.deepEqual(await requests.last(), []);
      await requests.verify({ method: "insert" }, 0);
      await assert.rejects(requests.verify({ method: "insert" }), /insert/);
    });
  });
}

describe("sandboxes", () => {
  const current = useThriftstore({ schema: (server) => server.cql(SHOP) });

  test("are separate", async () => {
    const { server } = current;
    const first = await server.sandbox();
    await server.snapshot("one");
    await insert(server, 9);
    const second = await server.sandbox({ name: "second", from: "one" });
    await insert(first, 2);
    await first.clock.freeze();
    assert.deepEqual([await keys(first), await keys(second), await keys(server)], [[1, 2], [1], [1, 9]]);
    assert.equal((await second.clock.state()).frozen, false);
    assert.equal(new Set([first.thrift, second.thrift, server.thrift]).size, 3);
    await assert.rejects(server.sandbox({ name: "second" }), /second/);
    await first.delete();
    assert.deepEqual(
      (await server.sandboxes()).map(({ name }) => name),
      ["second"],
    );
    await second.delete();
  });
});
