// The program, its start and its end.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { after, test } = require("node:test");
const { setTimeout: sleep } = require("node:timers/promises");
const { start } = require("thriftstore");
const { findProgram } = require("../node_modules/thriftstore/lib/program");

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "kit-"));
after(() => fs.rmSync(folder, { recursive: true }));

function programIn(name, script) {
  fs.mkdirSync(path.join(folder, name));
  const program = path.join(folder, name, "thriftstore");
  fs.writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return program;
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function hasEnded(pid) {
  for (let tries = 0; tries < 1000 && isRunning(pid); tries += 1) {
    await sleep(10);
  }
  return !isRunning(pid);
}

test("the program: the variable, then the package, then the path", () => {
  const program = programIn("named", "exit 1");
  const PATH = path.dirname(program);
  const missing = path.join(folder, "nothing");
  assert.equal(findProgram({ THRIFTSTORE: program, PATH: "/nowhere" }), program);
  assert.throws(() => findProgram({ THRIFTSTORE: missing, PATH }), /THRIFTSTORE is .*nothing/);
  const inPackage = findProgram({ PATH });
  assert.match(inPackage, /node_modules\/thriftstore\/program\/thriftstore$/);
  assert.match(execFileSync(inPackage, ["--version"], { encoding: "utf8" }), /^thriftstore /);
  assert.equal(findProgram({ PATH }, missing), program);
  assert.throws(() => findProgram({ PATH: "/nowhere" }, missing), /THRIFTSTORE.*nothing.*nowhere/);
});

test("a server stops", async () => {
  const server = await start();
  assert.match(server.thrift, new RegExp(`:${server.thriftPort}$`));
  assert.match(server.native, new RegExp(`:${server.nativePort}$`));
  assert.ok(isRunning(server.pid));
  const before = server.logSize();
  assert.equal(server.log(before), "");
  await server.stop();
  assert.ok(!isRunning(server.pid));
  assert.match(server.log(before), /stopping/);
});

test("a server ends when the tests are killed", async () => {
  const code = `require("thriftstore").start().then((server) => {
    console.log(server.pid);
    process.kill(process.pid, "SIGKILL");
  })`;
  const tests = spawn(process.execPath, ["-e", code], { cwd: path.dirname(__dirname) });
  const pid = Number(await new Promise((resolve) => tests.stdout.setEncoding("utf8").once("data", resolve)));
  assert.ok(pid > 0);
  assert.ok(await hasEnded(pid));
});

test("a server does not keep its process, and ends with it", async () => {
  const code = 'require("thriftstore").start().then((server) => console.log(server.pid))';
  const pid = Number(execFileSync(process.execPath, ["-e", code], { cwd: path.dirname(__dirname), timeout: 10000 }));
  assert.ok(pid > 0);
  assert.ok(await hasEnded(pid));
});

test("a server that exits at the start", async () => {
  await assert.rejects(
    start({ config: "/nowhere/storage-conf.xml" }),
    /exited with status.*\/nowhere\/storage-conf.xml/s,
  );
});

test("a program that does not listen, and one that is none", async () => {
  const silent = programIn("silent", "exec sleep 60");
  await assert.rejects(start({ program: silent, startMs: 200 }), /does not listen after 0.2 s/);
  await assert.rejects(start({ program: "/nowhere/thriftstore" }), /cannot be run/);
});

test("arguments of the program", async () => {
  const schema = path.join(folder, "shop.cql");
  fs.writeFileSync(
    schema,
    "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};" +
      "CREATE TABLE shop.carts (id int PRIMARY KEY, items text);" +
      "INSERT INTO shop.carts (id, items) VALUES (1, 'tea');",
  );
  const server = await start({ compat: ["0.6", "1.2"], load: schema, args: ["--cluster-name", "Shop"], log: "debug" });
  await server.resetData();
  assert.deepEqual((await server.dump()).column_families, []);
  await server.reset();
  assert.deepEqual(
    (await server.dump()).column_families.map(({ name }) => name),
    ["carts"],
  );
  assert.match(server.log(), /DEBUG/);
  await server.stop();
});
