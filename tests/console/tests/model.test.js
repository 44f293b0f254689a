// Model: sketches of column families and tables.
"use strict";

const assert = require("node:assert/strict");
const { after, before, describe, test } = require("node:test");
const { Browser, check, picture } = require("../src/browser.js");
const { HOSTILE } = require("../src/data.js");
const { Server } = require("../src/server.js");

let server, browser, page;

before(async () => {
  server = await Server.start();
  browser = await Browser.start();
  page = await browser.open(server);
});

after(async () => {
  await browser?.stop();
  await server?.stop();
});

// Types in a sketch, shows its model, and returns the text of the page.
async function sketch(language, definition, data = "") {
  await page.goto("/model");
  await page.getByLabel("Language of the definition").selectOption({ label: language });
  await page.getByRole("textbox", { name: "Definition" }).fill(definition);
  await page.getByRole("textbox", { name: "Sample data" }).fill(data);
  await page.getByRole("button", { name: "Show the model" }).click();
  return page.locator("main").innerText();
}

describe("a sketch", () => {
  test("of each example shows cells, scripts and queries", { timeout: 120_000 }, async () => {
    await page.goto("/model");
    const examples = page.getByRole("navigation", { name: "Examples" }).getByRole("link");
    const titles = await examples.allInnerTexts();
    assert.ok(titles.length >= 7, titles.join());
    for (const title of titles) {
      await page.getByRole("navigation", { name: "Examples" }).getByRole("link", { name: title, exact: true }).click();
      assert.notEqual(await page.locator("table.cells").count(), 0, title);
      await page.$$eval("details.tried", (all) => all.forEach((details) => (details.open = true)));
      const text = await page.locator("main").innerText();
      for (const part of ["As storage-conf.xml", "As cassandra-cli", "As CQL", "served"]) {
        assert.ok(text.toLowerCase().includes(part.toLowerCase()), `${title} has no ${part}`);
      }
      await check(page);
    }
    await page.goto("/model?example=blog");
    await picture(page, "model");
  });

  test("typed in as CQL tells which queries it serves", async () => {
    const table = "CREATE TABLE gyms (city text, name text, members int, PRIMARY KEY (city, name));";
    const text = await sketch("CQL", table, "INSERT INTO gyms (city, name, members) VALUES ('Oslo', 'Sats', 7);");
    assert.match(text, /Sats:members/);
    await page
      .locator("details.tried")
      .first()
      .evaluate((details) => (details.open = true));
    const queries = await page.locator("table.queries").allInnerTexts();
    assert.match(queries.join("\n"), /only with ALLOW FILTERING/);
    await check(page);
  });

  test("is a link, a file, and column families of this server", async () => {
    await sketch("CQL", "CREATE TABLE applied (k text PRIMARY KEY, v text);", "INSERT INTO applied (k, v) VALUES ('a', 'b');");
    await page.getByRole("link", { name: "Link to this sketch" }).click();
    await page.getByRole("heading", { name: "Drawing" }).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download CQL" }).click();
    assert.equal((await download).suggestedFilename(), "model.cql");
    await page.getByRole("button", { name: "Apply it to this server" }).click();
    await check(page);
    await page.getByRole("status").getByRole("link", { name: "sketch" }).click();
    await page.locator("main").getByRole("link", { name: "Rows of applied" }).click();
    assert.match(await page.locator("table.rows").innerText(), /v\s*=?\s*b/);
    await check(page);
  });

  test("with a mistake says where it is", async () => {
    const text = await sketch("CQL", "CREATE TABLE gyms (city text);\n");
    assert.match(text, /line 1/);
    assert.equal(await page.getByRole("alert").count(), 1);
    await check(page);
  });

  test("gets column families by a form", async () => {
    await page.goto("/model");
    await page.getByRole("textbox", { name: "Definition" }).fill("");
    await page.getByRole("textbox", { name: "Sample data" }).fill("");
    await page.locator("summary", { hasText: "Add a column family" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Comments");
    await page.getByLabel("Kind").selectOption("Super");
    await page.getByLabel("Comparator", { exact: true }).selectOption("TimeUUIDType");
    await page.getByRole("button", { name: "Add it to the definition" }).click();
    assert.match(await page.getByRole("textbox", { name: "Definition" }).inputValue(), /Comments/);
    await check(page);
  });

  test("of hostile texts stays text", async () => {
    const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
    const values = [HOSTILE.html, HOSTILE.control, HOSTILE.bidirectional, HOSTILE.hebrew];
    const rows = values.map((text) => `INSERT INTO t (k, v) VALUES (${quoted(text.replaceAll("\0", ""))}, 'x');`);
    const text = await sketch("CQL", "CREATE TABLE t (k text PRIMARY KEY, v text);", rows.join("\n"));
    assert.ok(text.includes(HOSTILE.html));
    assert.equal(await page.locator("main b").count(), 0);
    assert.match(await page.title(), /^Model/);
    await check(page);
  });
});
