// What a failed test shows, in test runs of node:test and of Jest.
"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { after, test } = require("node:test");

const project = path.dirname(__dirname);
// Below the project, so that its packages are found.
const folder = fs.mkdtempSync(path.join(project, "reports-"));
after(() => fs.rmSync(folder, { recursive: true }));

const CODE = (outcome) => `
const { useThriftstore } = require("thriftstore/testing");
const { test } = globalThis.test ? globalThis : require("node:test");
useThriftstore();
test("it", () => { if (${outcome}) throw new Error("on purpose"); });
`;

for (const fails of [true, false]) {
  const file = path.join(folder, `${fails}.test.js`);
  fs.writeFileSync(file, CODE(fails));
  const shows = fails ? assert.match : assert.doesNotMatch;

  test(`node:test, ${fails ? "failed" : "passed"}`, () => {
    // Without the variable by which a test run recognizes that it is in another.
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const run = spawnSync(process.execPath, [file], { encoding: "utf8", env });
    assert.equal(run.status, fails ? 1 : 0);
    shows(run.stdout + run.stderr, /thriftstore: log.*thriftstore: last requests/s);
  });

  test(`Jest, ${fails ? "failed" : "passed"}`, () => {
    const jest = path.join(project, "node_modules/.bin/jest");
    const run = spawnSync(jest, ["--rootDir", folder, "--testEnvironment", "thriftstore/jest-environment", file], {
      encoding: "utf8",
      cwd: project,
    });
    assert.equal(run.status, fails ? 1 : 0, run.stderr);
    shows(run.stderr, /thriftstore: log.*thriftstore: last requests/s);
  });
}
