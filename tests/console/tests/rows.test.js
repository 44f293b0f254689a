// Keyspaces, rows and cells: every action of their pages.
"use strict";

const assert = require("node:assert/strict");
const { after, before, describe, test } = require("node:test");
const { Browser, DESK, PHONE, check, picture } = require("../src/browser.js");
const { HOSTILE, load } = require("../src/data.js");
const { Server } = require("../src/server.js");

const CELLS = 1_000_000;

let server, browser;

before(async () => {
  server = await Server.start("--control", "127.0.0.1:0");
  await load(server, CELLS);
  browser = await Browser.start();
});

after(async () => {
  await browser?.stop();
  await server?.stop();
});

// Returns the names of the cells that a page shows.
const names = (page) =>
  page.$$eval("table.cells tbody th", (cells) => cells.map((cell) => cell.firstElementChild.textContent));

// Follows a link or sends a form, and waits for the next page.
async function go(page, selector) {
  const loaded = page.waitForNavigation({ waitUntil: "domcontentloaded" });
  await page.click(selector);
  await loaded;
}

describe("rows and cells", () => {
  for (const javaScriptEnabled of [true, false]) {
    test(`of the blog, ${javaScriptEnabled ? "with" : "without"} scripts`, { timeout: 120_000 }, async () => {
      const page = await browser.open(server, { javaScriptEnabled });
      const checked = async (name) => {
        if (!javaScriptEnabled) return;
        await check(page);
        if (name) await picture(page, name);
      };
      await page.goto("/");
      await go(page, "nav >> text=Data >> nth=0");
      await checked();
      await go(page, "main >> text=BloggyAppy");
      await checked("keyspace");
      await go(page, "text=Rows of Comments");
      await checked("rows");
      // On a phone a row is a card: its token has three lines at most, and not a digit on each.
      await page.setViewportSize(PHONE);
      const token = await page.locator("table.rows td.number").first().boundingBox();
      assert.ok(token.height < 90, `the token is ${token.height} pixels high`);
      await page.setViewportSize(DESK);
      await go(page, "table.rows a >> nth=0");
      await checked("super-columns");
      await go(page, "text=This super column alone >> nth=0");
      assert.deepEqual(await names(page), ["comment", "commentTime", "commenter", "email"]);
      await checked();
      // Hex on demand.
      assert.equal(await page.isVisible(".cells .hexline >> nth=0"), false);
      await page.check("text=Show hex");
      assert.equal(await page.isVisible(".cells .hexline >> nth=0"), true);
      await checked();
      await page.context().close();
    });
  }

  test("of a table lead from a value to its cell", { timeout: 60_000 }, async () => {
    const page = await browser.open(server);
    await page.goto("/rows?keyspace=modeling&family=posts_facebook");
    await go(page, "table.rows a >> nth=0");
    await check(page);
    await picture(page, "cells-and-rows");
    const value = page.locator("table.cql tbody tr:first-child td:last-child a").first();
    const text = await value.textContent();
    await value.click();
    assert.equal(await page.locator("tr:target td .bytes").first().textContent(), text);
    await check(page);
    await page.context().close();
  });

  test("of a row of a million columns come in slices", { timeout: 60_000 }, async () => {
    const page = await browser.open(server);
    const range = (from, to) => Array.from({ length: 100 }, (_, at) => String(from + Math.sign(to - from) * at));
    await page.goto("/rows?keyspace=Keyspace1&family=StandardLong1");
    await page.fill("#key", "wide");
    await go(page, "text=Go to the row");
    assert.deepEqual(await names(page), range(0, 99));
    await go(page, "nav.pages >> text=Next >> nth=0");
    assert.deepEqual(await names(page), range(100, 199));
    await check(page);
    await go(page, "nav.pages >> text=Previous >> nth=0");
    assert.deepEqual(await names(page), range(0, 99));
    await go(page, "nav.pages >> text=Last >> nth=0");
    assert.deepEqual(await names(page), range(CELLS - 1, CELLS - 100));
    await page.fill("#from", "500000");
    await go(page, 'button:text-is("Descending")');
    assert.deepEqual(await names(page), range(500_000, 499_901));
    await page.fill("#from", "500000");
    await go(page, 'button:text-is("Ascending")');
    assert.deepEqual(await names(page), range(500_000, 500_099));
    await check(page);
    await picture(page, "wide-row");
    await page.goto("/rows?keyspace=Keyspace1&family=StandardLong1&key=wide&start=ten");
    assert.match(await page.textContent("[role=alert]"), /the name "ten" cannot be read/);
    await check(page);
    await page.context().close();
  });

  test("of hostile data change no page", { timeout: 60_000 }, async () => {
    const page = await browser.open(server);
    await page.goto("/rows?keyspace=Keyspace1&family=Standard1");
    await check(page);
    const rows = await page.$$eval("table.rows tbody tr", (rows) => rows.length);
    assert.equal(rows, Object.keys(HOSTILE).length);
    // The key of 65,000 bytes is too long for an address, and so is a button.
    await go(page, "table.rows button");
    assert.deepEqual((await names(page)).length, Object.keys(HOSTILE).length);
    assert.equal(await page.title(), "Row of Keyspace1.Standard1 – thriftstore");
    assert.ok((await page.content()).includes("line\\nfeed") === false, "bytes that cannot be printed are in hex");
    await check(page);
    await picture(page, "hostile");
    await go(page, "text=whole cell >> nth=0");
    assert.ok((await page.textContent("main")).includes(HOSTILE.long));
    await check(page);
    await page.context().close();
  });

  test("of hostile texts stay text", { timeout: 60_000 }, async () => {
    const page = await browser.open(server);
    await page.goto("/rows?keyspace=Keyspace1&family=Standard2");
    const rows = await page.locator("table.rows tbody tr").count();
    assert.equal(rows, Object.keys(HOSTILE).length - 1);
    for (let row = 0; row < rows; row++) {
      await page.goto("/rows?keyspace=Keyspace1&family=Standard2");
      await go(page, `table.rows tbody tr >> nth=${row} >> th >> css=a, button`);
      const text = await page.locator("main").innerText();
      assert.ok(text.includes(HOSTILE.html), text);
      assert.ok(text.includes("abc\\u{202e}gnp.exe"), text);
      assert.ok(text.includes("line\\nfeed\\0null") || text.includes("line\\nfeed\\u{0}null"), text);
      // No control character, and none that changes the direction of a text, comes to the page.
      assert.doesNotMatch(text.replace(/[\n\t]/g, ""), /[\u0000-\u001f\u202e\u2066]/);
      assert.equal(await page.locator("main b").count(), 0);
      assert.equal(await page.title(), "Row of Keyspace1.Standard2 – thriftstore");
      await check(page);
    }
    await page.context().close();
  });
});
