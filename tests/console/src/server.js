// A server in memory with the console and the control API.

"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const readline = require("node:readline");

const CONFIG = path.join(__dirname, "../../../storage-conf.xml");

class Server {
  // Starts a server with more options. It runs until `stop`.
  static async start(...options) {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "console-"));
    const any = "127.0.0.1:0";
    const config = options.includes("--config") ? [] : ["--config", CONFIG];
    const fixed = [...config, "--ephemeral", "--thrift", any, "--cql", any, "--admin", any];
    const log = fs.openSync(path.join(directory, "server.log"), "w");
    const child = spawn(process.env.THRIFTSTORE, ["serve", ...fixed, ...options], {
      cwd: directory,
      stdio: ["ignore", "pipe", log],
    });
    fs.closeSync(log);
    const server = new Server(child, directory);
    await server.#readAddresses();
    return server;
  }

  constructor(child, directory) {
    this.child = child;
    this.directory = directory;
  }

  // Reads lines such as "listening for Thrift clients on 127.0.0.1:40813". The line of the admin server is the last.
  async #readAddresses() {
    for await (const line of readline.createInterface({ input: this.child.stdout })) {
      const [, address] = / (\S+)$/.exec(line) ?? [];
      if (line.includes("Thrift clients")) this.thrift = address;
      else if (line.includes("CQL clients")) this.cql = address;
      else if (line.includes("admin server")) {
        this.url = address.replace(/\/$/, "");
        // Nothing else is printed. The pipe stays open, so that the server can write to it.
        return;
      }
    }
    const log = fs.readFileSync(path.join(this.directory, "server.log"), "utf8");
    throw new Error(`the server ended before it printed its addresses:\n${log}`);
  }

  // Sends a request to the control API and returns its reply.
  async control(method, path, body, contentType = "application/json") {
    // Browsers send a cookie, and so need a token from a page. Programs get the cookie and the token in the same way.
    this.access ??= await this.#access();
    const headers = { ...this.access, "Content-Type": contentType };
    const reply = await fetch(`${this.url}/control${path}`, { method, body, headers });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return reply.json();
  }

  async #access() {
    const reply = await fetch(this.url);
    const [cookie] = reply.headers.getSetCookie()[0].split(";");
    const [, token] = /<meta name="csrf" content="([^"]+)">/.exec(await reply.text());
    return { Cookie: cookie, "X-CSRF-Token": token };
  }

  async stop() {
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill();
    await ended;
    fs.rmSync(this.directory, { recursive: true });
  }
}

module.exports = { Server };
