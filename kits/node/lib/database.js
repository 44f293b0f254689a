// A database in memory: what a server and its sandboxes have in common.
"use strict";

const fs = require("node:fs/promises");
const path = require("node:path");

const { Clock } = require("./clock");
const { Faults } = require("./faults");
const { Requests, lineOf } = require("./requests");

const CONTENT_TYPES = { ".cql": "text/x-cql", ".cli": "text/x-cassandra-cli", ".json": "application/json" };

// How many requests the report of a failed test shows.
const REQUESTS_OF_REPORT = 20;

const START = "kit-start";

// Addresses for clients are `thrift` and `native`, each HOST:PORT.
class Database {
  #control;
  #hasStart = false;
  // Snapshots that the next reset deletes.
  #snapshots = new Set();

  constructor(control, addresses) {
    this.#control = control;
    this.thrift = addresses.thrift;
    this.native = addresses.native;
    this.clock = new Clock(control);
    this.faults = new Faults(control);
    this.requests = new Requests(control);
    this.testBegan = 0;
  }

  get thriftPort() {
    return portOf(this.thrift);
  }

  get nativePort() {
    return portOf(this.native);
  }

  // The snapshot that `markStart` has taken, if it was called.
  get start() {
    return this.#hasStart ? START : undefined;
  }

  // Lets `reset` and new sandboxes return to the current state instead of the one after the server's start.
  async markStart() {
    await this.#control.put(["snapshots", START]);
    this.#hasStart = true;
    // These existed at the start, so a reset leaves them.
    this.#snapshots.clear();
  }

  // Returns to the state of the start: rows, schema, users, clock; without faults and later snapshots.
  async reset() {
    this.testBegan = this.logSize();
    await this.#control.post(["reset"], { what: "everything" });
    if (this.#hasStart) {
      await this.restore(START);
    }
    await this.clock.follow();
    for (const name of [...this.#snapshots]) {
      await this.deleteSnapshot(name);
    }
  }

  // Removes all rows. Schema and users stay.
  async resetData() {
    await this.#control.post(["reset"], { what: "data" });
  }

  // Takes a snapshot of rows, schema and users. The next `reset` deletes it.
  async snapshot(name = "snapshot") {
    await this.#control.put(["snapshots", name]);
    this.#snapshots.add(name);
  }

  async restore(name = "snapshot") {
    await this.#control.post(["snapshots", name, "restore"]);
  }

  // Returns the snapshots with `name`, `column_families` and `bytes`.
  async snapshots() {
    const all = (await this.#control.get("snapshots")).snapshots;
    return all.filter((snapshot) => snapshot.name !== START);
  }

  async deleteSnapshot(name) {
    await this.#control.delete("snapshots", name);
    this.#snapshots.delete(name);
  }

  // Loads a file: CQL (.cql), a script of cassandra-cli (.cli), or rows (.json, in the form of `dump`).
  async load(file) {
    const contentType = CONTENT_TYPES[path.extname(file)];
    if (!contentType) {
      throw new Error(`${file} has an unknown extension: use .cql, .cli or .json`);
    }
    return this.#control.send("POST", ["load"], await fs.readFile(file), contentType);
  }

  // Runs statements of CQL 3, separated by semicolons.
  cql(script) {
    return this.#control.send("POST", ["load"], script, CONTENT_TYPES[".cql"]);
  }

  // Writes rows in the form of `dump`.
  write(rows) {
    return this.#control.post(["load"], rows);
  }

  // Returns all rows in the form that `write` accepts.
  dump() {
    return this.#control.get("dump");
  }

  // Closes all connections of clients and forgets prepared statements, as a restart does. Data stays.
  async restart() {
    await this.#control.post(["restart"]);
  }

  // Closes new connections of clients at once, until `acceptConnections`, or while a function runs.
  async refuseConnections(action) {
    await this.#control.post(["connections"], { refuse: true });
    if (action) {
      try {
        return await action();
      } finally {
        await this.acceptConnections();
      }
    }
  }

  async acceptConnections() {
    await this.#control.post(["connections"], { refuse: false });
  }

  // Returns what explains a failed test: the log of the test, and the last requests.
  async report() {
    const log = this.log(this.testBegan) || "(none)\n";
    const requests = await this.requests.last(REQUESTS_OF_REPORT);
    const lines = requests.map(lineOf).join("\n") || "(none)";
    return `---- thriftstore: log ----\n${log}---- thriftstore: last requests ----\n${lines}\n`;
  }
}

// A further database of a server, with its own addresses, clock, faults and requests.
class Sandbox extends Database {
  constructor(server, name, addresses) {
    super(server.control.ofSandbox(name), addresses);
    this.name = name;
    this.server = server;
    this.testBegan = this.logSize();
  }

  logSize() {
    return this.server.logSize();
  }

  // Returns the text of the server's log, which all sandboxes share.
  log(since) {
    return this.server.log(since);
  }

  // Closes the connections of the sandbox and frees its memory.
  async delete() {
    await this.server.control.delete("sandboxes", this.name);
  }
}

function portOf(address) {
  return Number(address.slice(address.lastIndexOf(":") + 1));
}

module.exports = { Database, Sandbox };
