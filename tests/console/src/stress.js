// Sends requests to a server by the load tool.

"use strict";

const { execFile } = require("node:child_process");
const { promisify } = require("node:util");

async function stress(server, ...options) {
  const [host, port] = server.thrift.split(":");
  await promisify(execFile)(process.env.THRIFTSTORE, ["stress", "--host", host, "--port", port, ...options]);
}

module.exports = { stress };
