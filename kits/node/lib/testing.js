// A server for the tests of a file, with the hooks of Jest, or else of node:test.
"use strict";

const { start } = require("./server");

// Set by jest_environment.js.
const FAILED = Symbol.for("thriftstore.failed");

function hooks() {
  const { beforeAll, beforeEach, afterEach, afterAll } = globalThis;
  return typeof beforeAll === "function"
    ? { before: beforeAll, beforeEach, afterEach, after: afterAll }
    : require("node:test");
}

// Starts a server before the tests and stops it after them. Before each test it is reset, or a sandbox is created.
//
// `schema` loads what each test begins with. All other options are those of `start`.
function useThriftstore({ sandboxes = false, schema = () => {}, ...options } = {}) {
  const current = { server: undefined, database: undefined };
  const { before, beforeEach, afterEach, after } = hooks();

  before(async () => {
    current.server = await start(options);
    await schema(current.server);
    await current.server.markStart();
  });
  beforeEach(async () => {
    if (sandboxes) {
      current.database = await current.server.sandbox();
    } else {
      await current.server.reset();
      current.database = current.server;
    }
  });
  // Jest regards a named parameter as a callback.
  afterEach(async (...context) => {
    const { database, server } = current;
    // node:test has an error, Jest's environment the mark. Old releases of Node have neither.
    if (context[0]?.error || globalThis[FAILED]) {
      process.stderr.write(await database.report());
    }
    if (database !== server) {
      await database.delete();
    }
  });
  after(() => current.server?.stop());
  return current;
}

module.exports = { useThriftstore };
