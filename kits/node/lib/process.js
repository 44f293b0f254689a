// The process of a server or a recorder.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

// How long a server may take until it listens, and until it has stopped.
const START_MS = 10000;
const STOP_MS = 5000;
const LAST_LINES = 20;

// The names of a server's addresses, and what it prints before each of them.
const SERVER_ADDRESSES = [
  ["thrift", "listening for Thrift clients on "],
  ["native", "listening for CQL clients on "],
  ["control", "listening for control clients on "],
];

// Ends the server when standard input ends. That happens when the process of the tests ends, even by SIGKILL.
const WATCHER = 'cat >/dev/null; kill "$1" 2>/dev/null';

class ServerProcess {
  #child;
  #watcher;
  #log;
  #exited;
  #output = "";

  // Starts the program, and returns when it listens. `expected` are names of addresses and the words before each of
  // them, in the order of the output.
  static async start(program, args, { environment, startMs = START_MS, expected = SERVER_ADDRESSES } = {}) {
    const server = new ServerProcess();
    server.#log = temporaryFile();
    // A session of its own keeps Ctrl-C from the server: the tests still use it while they end.
    server.#child = spawn(program, args, {
      stdio: ["ignore", "pipe", server.#log],
      env: environment ?? process.env,
      detached: true,
    });
    server.#exited = new Promise((resolve) => {
      server.#child.once("exit", (code, signal) => resolve(`exited with ${signal || `status ${code}`}`));
      server.#child.once("error", (error) => resolve(`cannot be run: ${error.message}`));
    });
    try {
      server.#watch();
      server.addresses = await server.#addresses(program, startMs, expected);
    } catch (error) {
      await server.stop();
      throw error;
    }
    // The end of the tests does not wait for the server.
    server.#child.unref();
    server.#child.stdout.unref();
    return server;
  }

  #watch() {
    if (this.#child.pid === undefined) {
      return;
    }
    this.#watcher = spawn("/bin/sh", ["-c", WATCHER, "sh", String(this.#child.pid)], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    this.#watcher.stdin.on("error", () => {});
    this.#watcher.unref();
    this.#watcher.stdin.unref();
  }

  async #addresses(program, startMs, expected) {
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, startMs, `does not listen after ${startMs / 1000} s`);
    });
    let found = {};
    const listening = new Promise((resolve) => {
      this.#child.stdout.setEncoding("utf8").on("data", (text) => {
        this.#output += text;
        found = addressesIn(this.#output, expected);
        if (Object.keys(found).length === expected.length) {
          resolve();
        }
      });
    });
    const reason = await Promise.race([listening, this.#exited, late]);
    clearTimeout(timer);
    if (reason) {
      const lines = this.log().trimEnd().split("\n").slice(-LAST_LINES);
      throw new Error(`${program} ${reason}. Its log:\n${lines.join("\n")}`);
    }
    return found;
  }

  get pid() {
    return this.#child.pid;
  }

  // Returns what the program has printed.
  get output() {
    return this.#output;
  }

  // Returns the exit status, null while the program runs or if a signal has ended it.
  get status() {
    return this.#child.exitCode;
  }

  // Returns a position in the log, for `log`.
  logSize() {
    return fs.fstatSync(this.#log).size;
  }

  // Returns the text of the log from this position.
  log(since = 0) {
    const bytes = Buffer.alloc(Math.max(0, this.logSize() - since));
    fs.readSync(this.#log, bytes, 0, bytes.length, since);
    return bytes.toString("utf8");
  }

  // Stops the server, by force if it does not stop within five seconds.
  async stop() {
    // The watcher first: after the server has ended, its number may belong to another process.
    if (this.#watcher) {
      this.#watcher.kill("SIGKILL");
      this.#watcher.stdin.destroy();
    }
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGTERM");
      const force = setTimeout(() => this.#child.kill("SIGKILL"), STOP_MS);
      this.#child.ref();
      await this.#exited;
      clearTimeout(force);
    }
    // What was printed last may not have been read.
    if (!this.#child.stdout.readableEnded && !this.#child.stdout.destroyed) {
      this.#child.stdout.ref();
      await new Promise((resolve) => this.#child.stdout.once("close", resolve));
    }
  }
}

// Returns the addresses in an output. Its last line may be incomplete.
function addressesIn(output, expected) {
  const found = {};
  for (const line of output.split("\n").slice(0, -1)) {
    const next = expected.find(([name, words]) => !(name in found) && line.startsWith(words));
    if (next) {
      const [name, words] = next;
      found[name] = line.slice(words.length).split(",")[0].trim();
    }
  }
  return found;
}

// Returns an open file without a name, so nothing is left after the tests.
function temporaryFile() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "thriftstore-"));
  const file = fs.openSync(path.join(folder, "log"), "w+");
  fs.rmSync(folder, { recursive: true });
  return file;
}

module.exports = { ServerProcess };
