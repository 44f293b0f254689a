// A browser without a window, and what all tests check of a page.

"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const AXE = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 900 };

class Browser {
  static async start() {
    // Containers run as root and have a small /dev/shm.
    const options = ["--no-sandbox", "--disable-dev-shm-usage", "--force-prefers-reduced-motion"];
    return new Browser(await chromium.launch({ executablePath: process.env.CHROMIUM, args: options }));
  }

  constructor(chromium) {
    this.chromium = chromium;
  }

  // Opens a window on a server. `problems` of the window collects what its pages should not do.
  async open(server, { colorScheme = "light", javaScriptEnabled = true } = {}) {
    // The axe script is injected, which the policy of the pages forbids; `policy` tests that the policy is sent.
    const context = await this.chromium.newContext({
      baseURL: server.url,
      colorScheme,
      javaScriptEnabled,
      bypassCSP: javaScriptEnabled,
      viewport: DESK,
    });
    const page = await context.newPage();
    page.problems = [];
    page.on("pageerror", (error) => page.problems.push(`script: ${error.message}`));
    page.on("console", (line) => {
      // A refused form is an answer that pages show.
      const isAnswer = line.text().startsWith("Failed to load resource");
      if (line.type() === "error" && !isAnswer) page.problems.push(`console: ${line.text()}`);
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(server.url)) page.problems.push(`foreign address: ${request.url()}`);
    });
    return page;
  }

  async stop() {
    await this.chromium.close();
  }
}

// Runs axe's checks, and checks that the page fits a phone.
async function check(page) {
  const where = new URL(page.url()).pathname;
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  const found = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`);
  assert.deepEqual(found, [], `axe's findings at ${where}`);
  await page.setViewportSize(PHONE);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= PHONE.width, `${where} is ${width} pixels wide on a phone of ${PHONE.width}`);
  await page.setViewportSize(DESK);
  assert.deepEqual(page.problems, [], `problems at ${where}`);
}

// Writes a picture for the documentation, if it was asked for.
async function picture(page, name) {
  if (!process.env.SCREENSHOTS) return;
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: path.join(process.env.SCREENSHOTS, `${name}.png`) });
}

module.exports = { Browser, DESK, PHONE, check, picture };
