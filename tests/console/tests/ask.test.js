// The pages Ask and Change, used as a person does.
"use strict";

const assert = require("node:assert/strict");
const { after, before, describe, test } = require("node:test");
const { Browser, check, picture } = require("../src/browser.js");
const { load } = require("../src/data.js");
const { Server } = require("../src/server.js");

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

const slice = "with=thrift&method=get_slice&keyspace=Keyspace1&family=StandardLong1&keys=wide";

describe("Ask", () => {
  for (const javaScriptEnabled of [true, false]) {
    test(`answers a statement ${javaScriptEnabled ? "with" : "without"} scripts`, async () => {
      const page = await browser.open(server, { javaScriptEnabled });
      await page.goto("/ask");
      await page.getByLabel("Statement").fill('SELECT * FROM "BloggyAppy"."Authors"');
      await page.getByRole("button", { name: "Ask", exact: true }).click();
      await page.getByRole("heading", { name: "What it reads" }).waitFor();
      assert.ok((await page.getByRole("row").count()) > 2);
      await page.getByRole("link", { name: "Cells" }).click();
      await page.locator(".cellrow").first().waitFor();
      if (javaScriptEnabled) {
        await check(page);
        await picture(page, "ask-cells");
      }
      await page.getByRole("link", { name: "JSON", exact: true }).click();
      assert.match(await page.locator("pre.json").textContent(), /^\[\n {2}\{/);
      if (javaScriptEnabled) await check(page);
      await page.context().close();
    });
  }

  test("draws the slice of a call, and shows it as code", async () => {
    const page = await browser.open(server);
    await page.goto(`/ask?${slice}&view=form`);
    await page.getByLabel("Start of slice").fill("900");
    await page.getByLabel("Reversed").check();
    await page.getByRole("textbox", { name: "Columns", exact: true }).fill("5");
    await page.getByRole("button", { name: "Ask" }).click();
    await page.getByRole("img", { name: /from 900 to the first, backwards/ }).waitFor();
    await page.getByText("Go (generated Thrift client)").click();
    assert.match(await page.locator("details[open] pre").textContent(), /client\.GetSlice\(ctx/);
    await check(page);
    await picture(page, "ask-thrift");
    await page.context().close();
  });

  test("begins with examples, sorts a result and saves it", async () => {
    const page = await browser.open(server);
    await page.goto("/ask?keyspace=BloggyAppy&view=form");
    await check(page);
    await page.getByRole("link", { name: "The first rows of BlogEntries" }).click();
    const first = () => page.locator("#result tbody tr td:nth-child(2)").first().innerText();
    const head = page.locator("#result thead").getByRole("button", { name: "column1" });
    await head.click();
    assert.equal(await first(), "author");
    await head.click();
    assert.equal(await first(), "title");
    assert.equal(await page.locator("#result th[aria-sort=descending]").count(), 1);
    await check(page);
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "CSV" }).click();
    assert.equal((await download).suggestedFilename(), "result.csv");
    await page.context().close();
  });

  test("offers the column families of the chosen keyspace", async () => {
    const page = await browser.open(server);
    await page.goto("/ask?with=thrift&method=get_slice&view=form");
    await page.getByLabel("Keyspace", { exact: true }).selectOption("BloggyAppy");
    const families = await page.getByLabel("Column family", { exact: true }).locator("option").allInnerTexts();
    assert.deepEqual(families.slice(1), ["Authors", "BlogEntries", "Comments", "TaggedPosts"]);
    await check(page);
    await page.context().close();
  });

  test("keeps a history, and forgets it", async () => {
    const page = await browser.open(server);
    await page.goto(`/ask?${slice}`);
    await page.goto("/ask");
    const link = page.locator("#questions a");
    assert.equal(await link.count(), 1);
    await link.click();
    await page.getByRole("heading", { name: "Result" }).waitFor();
    await check(page);
    await page.getByRole("button", { name: "Forget them" }).click();
    await page.goto("/ask");
    assert.ok(await page.locator("#history").isHidden());
    await page.context().close();
  });

  test("shows hostile keys, names and values", async () => {
    const page = await browser.open(server);
    for (const view of ["table", "cells", "json"]) {
      await page.goto(`/ask?with=thrift&method=get_range_slices&keyspace=Keyspace1&family=Standard1&view=${view}`);
      assert.equal(await page.title(), "Ask – thriftstore");
      await check(page);
    }
    await page.goto(`/ask?cql=${encodeURIComponent("SELECT <b> FROM \u202e")}`);
    await page.getByRole("alert").waitFor();
    await check(page);
    await page.context().close();
  });
});

describe("Change", () => {
  test("inserts and removes a column by the keyboard", async () => {
    const page = await browser.open(server);
    await page.goto("/change?keyspace=Keyspace1&family=Standard2&key=new");
    await page.getByLabel("Column", { exact: true }).fill("state");
    await page.getByLabel("Value").fill("TX");
    await page.getByLabel("Time to live").fill("500");
    await page.getByLabel("Time to live").press("Enter");
    await page.getByText("insert was acknowledged").waitFor();
    await check(page);
    await picture(page, "change");
    await page.getByRole("link", { name: "Show the row" }).click();
    await page.getByRole("cell", { name: "TX" }).waitFor();
    await page.goto("/change?operation=remove&keyspace=Keyspace1&family=Standard2&key=new");
    await page.getByRole("button", { name: "Change" }).click();
    await page.getByRole("link", { name: "Show the row" }).click();
    await page.getByText("The result is empty.").waitFor();
    await page.context().close();
  });
});
