// The process of a server.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

// How long a server may take until it listens, and until it has stopped.
const START_MS = 10000;
const STOP_MS = 5000;
const LAST_LINES = 20;

// What the server prints when it listens, by the name of the address.
const ADDRESSES = {
  thrift: "listening for Thrift clients on ",
  native: "listening for CQL clients on ",
  control: "listening for control clients on ",
};

// Ends the server when standard input ends. That happens when the process of the tests ends, even by SIGKILL.
const WATCHER = 'cat >/dev/null; kill "$1" 2>/dev/null';

class ServerProcess {
  #child;
  #watcher;
  #log;
  #exited;

  // Starts the program, and returns when it listens.
  static async start(program, args, environment, startMs = START_MS) {
    const server = new ServerProcess();
    server.#log = temporaryFile();
    // A session of its own keeps Ctrl-C from the server: the tests still use it while they end.
    server.#child = spawn(program, args, {
      stdio: ["ignore", "pipe", server.#log],
      env: environment,
      detached: true,
    });
    server.#exited = new Promise((resolve) => {
      server.#child.once("exit", (code, signal) => resolve(`exited with ${signal || `status ${code}`}`));
      server.#child.once("error", (error) => resolve(`cannot be run: ${error.message}`));
    });
    try {
      server.#watch();
      server.addresses = await server.#addresses(program, startMs);
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

  async #addresses(program, startMs) {
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, startMs, `does not listen after ${startMs / 1000} s`);
    });
    const found = {};
    const listening = new Promise((resolve) => {
      let output = "";
      this.#child.stdout.setEncoding("utf8").on("data", (text) => {
        output += text;
        for (const line of output.split("\n").slice(0, -1)) {
          for (const [name, words] of Object.entries(ADDRESSES)) {
            if (line.startsWith(words)) {
              found[name] = line.slice(words.length).trim();
            }
          }
        }
        if (Object.keys(found).length === Object.keys(ADDRESSES).length) {
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
  }
}

// Returns an open file without a name, so nothing is left after the tests.
function temporaryFile() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "thriftstore-"));
  const file = fs.openSync(path.join(folder, "log"), "w+");
  fs.rmSync(folder, { recursive: true });
  return file;
}

module.exports = { ServerProcess };
