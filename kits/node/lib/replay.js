// Replays recordings, to find differences between two servers.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs/promises");
const os = require("node:os");
const path = require("node:path");
const { findProgram } = require("./program");

// Answers differ from the recorded ones. The message has the report as text, `report` its fields.
class ReplayDiffers extends Error {
  constructor(report, text) {
    super(`answers differ from the recorded ones\n${text}`);
    this.name = "ReplayDiffers";
    this.report = report;
  }
}

// Replays a recording to a server in memory, and returns the report. index.d.ts describes the options.
async function replay(file, { compat = [], config = [], load = [], failOn = "data", args = [], program } = {}) {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), "thriftstore-"));
  try {
    const written = path.join(folder, "report.json");
    const words = ["replay", file, "--report", "json", "--report-to", written];
    const options = { "--compat": compat, "--config": config, "--load": load, "--fail-on": failOn ?? [] };
    for (const [option, values] of Object.entries(options)) {
      words.push(...[values].flat().flatMap((value) => [option, value]));
    }
    const { status, output, errors } = await run(program ?? findProgram(), [...words, ...args]);
    const report = await fs.readFile(written, "utf8").then(JSON.parse, () => undefined);
    if (report === undefined) {
      throw new Error(`the replay failed: ${errors}`);
    }
    if (status !== 0) {
      throw new ReplayDiffers(report, output.split("\nThe report is in ")[0]);
    }
    return report;
  } finally {
    await fs.rm(folder, { recursive: true });
  }
}

// Runs a program to its end.
function run(program, args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const texts = ["stdout", "stderr"].map((name) => {
    const chunks = [];
    child[name].on("data", (chunk) => chunks.push(chunk));
    return () => Buffer.concat(chunks).toString("utf8");
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => {
      const [output, errors] = texts.map((text) => text());
      resolve({ status, output, errors });
    });
  });
}

module.exports = { ReplayDiffers, replay };
