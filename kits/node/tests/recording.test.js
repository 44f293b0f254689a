// Recordings of what tests ask, and their replay.
"use strict";

const assert = require("node:assert/strict");
const { once } = require("node:events");
const fs = require("node:fs");
const net = require("node:net");
const os = require("node:os");
const path = require("node:path");
const { after, before, test } = require("node:test");
const { ReplayDiffers, record, replay, start } = require("thriftstore");

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "kit-"));
const schema = path.join(folder, "shop.cql");
// The server that the application has used so far.
let old;

before(async () => {
  fs.writeFileSync(
    schema,
    "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};",
  );
  old = await start({ compat: "1.2", load: schema });
});
after(async () => {
  await old.stop();
  fs.rmSync(folder, { recursive: true });
});

function sized(bytes) {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(bytes.length);
  return Buffer.concat([size, bytes]);
}

// Calls set_keyspace as a generated client does, and returns the type of the reply.
async function useKeyspace(address, keyspace) {
  const head = [Buffer.from([0x80, 1, 0, 1]), sized(Buffer.from("set_keyspace")), Buffer.from([0, 0, 0, 1])];
  const argument = [Buffer.from([11, 0, 1]), sized(Buffer.from(keyspace)), Buffer.from([0])];
  const [host, port] = address.split(":");
  const connection = net.connect(Number(port), host);
  connection.write(sized(Buffer.concat([...head, ...argument])));
  const [reply] = await once(connection, "data");
  connection.destroy();
  return reply[7];
}

test("a recording is answered the same", async () => {
  const file = path.join(folder, "same.rec");
  const recorder = await record(file, { thrift: old.thrift });
  assert.equal(recorder.native, undefined);
  assert.equal(await useKeyspace(recorder.thrift, "shop"), 2);
  const [said] = await recorder.stop();
  assert.match(said, /^recorded 1 calls of 1 connections in /);
  const report = await replay(file, { compat: "1.2", load: schema, failOn: "text" });
  assert.deepEqual([report.verdict, report.calls.equal, report.causes], ["same", 1, []]);
});

test("differences are thrown with the report", async () => {
  const file = path.join(folder, "differs.rec");
  const recorder = await record(file, { thrift: old.thrift, native: old.native, redact: ["values", "keys"] });
  await useKeyspace(recorder.thrift, "shop");
  await recorder.stop();
  // Without the schema.
  await assert.rejects(replay(file, { compat: "1.2", failOn: "exception" }), (error) => {
    assert.ok(error instanceof ReplayDiffers);
    assert.match(error.message, /set_keyspace/);
    assert.equal(error.report.calls.exception, 1);
    return true;
  });
  assert.equal((await replay(file, { compat: "1.2", failOn: null })).verdict, "differs");
  assert.equal((await replay(file, { args: ["--against", old.thrift] })).verdict, "same");
});

test("what cannot begin is said", async () => {
  const file = path.join(folder, "there.rec");
  fs.writeFileSync(file, "");
  await assert.rejects(record(file, { thrift: old.thrift }), /there\.rec/);
  await assert.rejects(record(path.join(folder, "other.rec"), {}), /address/);
  await assert.rejects(replay(path.join(folder, "nowhere.rec")), /nowhere\.rec/);
});
