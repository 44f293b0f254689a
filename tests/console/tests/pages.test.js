// Every page that can be reached by links: accessible, in light and dark, on a phone, without foreign addresses.
"use strict";

const assert = require("node:assert/strict");
const { after, before, describe, test } = require("node:test");
const { Browser, check } = require("../src/browser.js");
const { load } = require("../src/data.js");
const { Server } = require("../src/server.js");

// Of links that differ only in their query this many are followed, so that the tests end.
const ALIKE = 3;

let server, browser;

before(async () => {
  server = await Server.start("--control", "127.0.0.1:0");
  await load(server, 1000);
  browser = await Browser.start();
});

after(async () => {
  await browser?.stop();
  await server?.stop();
});

// Returns the addresses of the links of a page that lead to other pages of the server.
async function links(page) {
  const found = await page.$$eval("a[href]", (links) => links.map((link) => link.href));
  return found.filter((link) => link.startsWith(server.url)).map((link) => link.split("#")[0]);
}

// Returns what makes two addresses alike: their path.
const kind = (link) => new URL(link).pathname;

async function crawl(page) {
  const waiting = [`${server.url}/`],
    seen = new Set(waiting),
    counts = new Map();
  let pages = 0;
  for (let link; (link = waiting.shift());) {
    const reply = await page.request.get(link);
    assert.ok(reply.ok(), `${link}: ${reply.status()} ${await reply.text()}`);
    if (!reply.headers()["content-type"].startsWith("text/html")) continue;
    await page.goto(link, { waitUntil: "domcontentloaded" });
    await check(page);
    pages += 1;
    for (const next of await links(page)) {
      const count = counts.get(kind(next)) ?? 0;
      if (seen.has(next) || count >= ALIKE) continue;
      seen.add(next);
      counts.set(kind(next), count + 1);
      waiting.push(next);
    }
  }
  return pages;
}

describe("pages that links lead to", () => {
  for (const colorScheme of ["light", "dark"]) {
    test(`are accessible in ${colorScheme}`, { timeout: 300_000 }, async (t) => {
      const page = await browser.open(server, { colorScheme });
      t.diagnostic(`${await crawl(page)} pages`);
      await page.context().close();
    });
  }

  test("that do not exist are pages, too", async () => {
    const page = await browser.open(server);
    for (const path of ["/nowhere", "/keyspaces/BlogyAppy"]) {
      const reply = await page.goto(path);
      assert.equal(reply.status(), 404);
      await page.getByRole("alert").waitFor();
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
      await check(page);
    }
    await page.context().close();
  });

  test("may load nothing of other servers", async () => {
    const reply = await fetch(server.url);
    const policy = reply.headers.get("content-security-policy");
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
  });
});
