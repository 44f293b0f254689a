// Records what tests ask of a real Cassandra.
"use strict";

const { ServerProcess } = require("./process");
const { findProgram } = require("./program");

const WORDS = "listening for recorded clients on ";

// A recorder before a server. It stops by `stop`, and when the process of the tests ends.
class Recorder {
  #process;

  constructor(process) {
    this.#process = process;
    this.thrift = process.addresses.thrift;
    this.native = process.addresses.native;
  }

  // Closes the file. Returns the lines that say how much was recorded, and what was not.
  async stop() {
    await this.#process.stop();
    if (this.#process.status !== 0) {
      throw new Error(`the recording ended early:\n${this.#process.log()}`);
    }
    const lines = this.#process.output.trimEnd().split("\n");
    return lines.filter((line) => !line.startsWith(WORDS));
  }
}

// Starts a recorder before a real server, and returns when it listens. index.d.ts describes the options.
async function record(file, { thrift, native, redact = [], args = [], program } = {}) {
  const upstreams = Object.entries({ thrift, native }).filter(([, address]) => address);
  if (upstreams.length === 0) {
    throw new TypeError("give the address of a server: thrift, native, or both");
  }
  const words = ["record", "--to", file];
  words.push(...upstreams.flatMap(([, address]) => ["--listen", "127.0.0.1:0", "--upstream", address]));
  const roles = [redact].flat();
  if (roles.length > 0) {
    words.push("--redact", roles.join(","));
  }
  const expected = upstreams.map(([name]) => [name, WORDS]);
  return new Recorder(await ServerProcess.start(program ?? findProgram(), [...words, ...args], { expected }));
}

module.exports = { Recorder, record };
