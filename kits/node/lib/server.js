// A server for tests.
"use strict";

const { Control } = require("./control");
const { Database, Sandbox } = require("./database");
const { ServerProcess } = require("./process");
const { findProgram } = require("./program");

const ADDRESS = "127.0.0.1:0";

// A process that serves a database in memory, and sandboxes. It stops by `stop`, and when the process of the tests ends.
class Server extends Database {
  #process;
  #sandboxes = 0;

  constructor(process) {
    const control = new Control(process.addresses.control);
    super(control, process.addresses);
    this.control = control;
    this.#process = process;
  }

  get pid() {
    return this.#process.pid;
  }

  // Creates a sandbox, in the state of the start or of a snapshot.
  async sandbox({ name, from = this.start } = {}) {
    this.#sandboxes += 1;
    const chosen = name ?? `test-${process.pid}-${this.#sandboxes}`;
    const reply = await this.control.put(["sandboxes", chosen], from === undefined ? {} : { from });
    return new Sandbox(this, chosen, reply);
  }

  // Returns the sandboxes with `name`, `thrift` and `native`.
  async sandboxes() {
    return (await this.control.get("sandboxes")).sandboxes;
  }

  logSize() {
    return this.#process.logSize();
  }

  log(since) {
    return this.#process.log(since);
  }

  stop() {
    return this.#process.stop();
  }
}

// Starts a server, and returns when it listens. index.d.ts describes the options.
async function start({ config, compat = [], load = [], args = [], log, program, startMs } = {}) {
  const words = ["serve", "--ephemeral"];
  for (const name of ["--thrift", "--cql", "--control"]) {
    words.push(name, ADDRESS);
  }
  if (config !== undefined) {
    words.push("--config", config);
  }
  words.push(...[compat].flat().flatMap((release) => ["--compat", release]));
  words.push(...[load].flat().flatMap((file) => ["--load", file]), ...args);
  const environment = log === undefined ? process.env : { ...process.env, THRIFTSTORE_LOG: log };
  return new Server(await ServerProcess.start(program ?? findProgram(), words, { environment, startMs }));
}

module.exports = { Server, start };
