// Home, Live and Test double.
"use strict";

const assert = require("node:assert/strict");
const { after, before, describe, test } = require("node:test");
const { Browser, DESK, PHONE, check, picture } = require("../src/browser.js");
const { load } = require("../src/data.js");
const { Server } = require("../src/server.js");
const { stress } = require("../src/stress.js");

let server, browser, page;

before(async () => {
  server = await Server.start("--control", "127.0.0.1:0");
  await load(server, 1000);
  browser = await Browser.start();
  page = await browser.open(server);
});

after(async () => {
  await browser?.stop();
  await server?.stop();
});

test("Home has charts that go on, and keyspaces with their sizes", async () => {
  await stress(server, "--operation", "mixed", "--seconds", "20");
  await page.goto("/");
  await page.locator(".keyspaces", { hasText: /Authors 2 rows/ }).waitFor();
  const chart = page.getByRole("img", { name: /^Requests a second, in the last 10 minutes: requests now / });
  const before = await chart.getAttribute("aria-label");
  await stress(server, "--operation", "mixed", "--seconds", "4");
  await page.waitForFunction((before) => document.querySelector(".chart svg").ariaLabel !== before, before);
  await check(page);
  await picture(page, "home");
});

test("the side bar is a menu on a phone, and folds by keyboard", async () => {
  await page.goto("/rows?keyspace=BloggyAppy&family=Authors");
  const tree = page.getByRole("navigation", { name: "Keyspaces" });
  assert.equal(await tree.locator("[aria-current=page]").innerText(), "Authors");
  const other = tree.locator("summary", { hasText: "modeling" });
  await other.press("Enter");
  await tree.getByRole("link", { name: "gyms_by_city" }).waitFor();
  await page.reload();
  assert.ok(await tree.getByRole("link", { name: "gyms_by_city" }).isVisible(), "it stays unfolded");
  await page.setViewportSize(PHONE);
  assert.ok(await tree.isHidden());
  await page.getByRole("button", { name: "Menu" }).press("Enter");
  assert.ok(await tree.isVisible());
  await page.keyboard.press("Escape");
  assert.ok(await tree.isHidden());
  await page.setViewportSize(DESK);
});

test("Home shows how to connect to this server", async () => {
  await page.goto("/");
  const text = await page.locator("main").innerText();
  const [, port] = server.thrift.split(":");
  assert.ok(text.includes(port) && text.includes(server.cql.split(":")[1]), text);
  for (const summary of await page.locator("main summary").all()) {
    if (!(await summary.evaluate((summary) => summary.parentElement.open))) await summary.click();
  }
  for (const client of ["pycassa", "Hector", "cqlsh"])
    assert.match(await page.locator("main").innerText(), new RegExp(client));
  await check(page);
});

describe("Live", () => {
  test("shows requests as they come, pauses, and filters", async () => {
    await page.goto("/live");
    await check(page);
    await stress(server, "--operation", "insert", "--ops", "50");
    await page.locator("#lines tr", { hasText: "insert" }).first().waitFor();
    await stress(server, "--operation", "read", "--ops", "50");
    await page.locator("#lines tr", { hasText: "get" }).first().waitFor();
    await check(page);
    await picture(page, "live");
    await page.getByRole("button", { name: "Pause" }).click();
    const first = await page.locator("#lines tr").first().innerText();
    await stress(server, "--operation", "insert", "--ops", "50");
    assert.equal(await page.locator("#lines tr").first().innerText(), first);
    await page.getByLabel("Method", { exact: true }).fill("insert");
    await page.getByRole("button", { name: "Filter" }).click();
    await stress(server, "--operation", "mixed", "--ops", "200");
    await page.locator("#lines tr", { hasText: "insert" }).first().waitFor();
    const methods = await page.locator("#lines tr td:nth-child(2)").allInnerTexts();
    assert.deepEqual([...new Set(methods)], ["insert"]);
    await check(page);
  });

  test("says that it samples a busy server", async () => {
    await page.goto("/live");
    await stress(server, "--operation", "read", "--seconds", "3");
    await page.locator("#counts", { hasText: /sampled: [1-9]\d* requests left out/ }).waitFor();
  });

  test("switches the log of requests", async () => {
    await page.goto("/live");
    const log = page.locator("section", { has: page.locator("#log") });
    assert.match(await log.innerText(), /No requests are logged/);
    const switchTo = async (mode) => {
      await page.getByLabel("Log", { exact: true }).fill(mode);
      await page.getByRole("button", { name: "Switch the log" }).click();
      await check(page);
    };
    await switchTo("often");
    assert.match(await log.innerText(), /unknown mode "often"/);
    await switchTo("slow=3ms");
    assert.match(await log.innerText(), /Logged are slow=3ms, with their arguments. Lines go to the log/);
    await switchTo("off");
    assert.match(await log.innerText(), /No requests are logged/);
  });

  test("has the slowest requests, the clients and the errors", async () => {
    await stress(server, "--operation", "read", "--ops", "10", "--column-family", "Missing").catch(() => {});
    await page.goto("/live");
    const section = (name) => page.getByRole("region", { name, exact: true });
    assert.match(await section("Table of the slowest requests").innerText(), /insert|get/);
    assert.match(await section("Table of errors").innerText(), /Missing/);
    await check(page);
  });

  test("works without scripts", async () => {
    const plain = await browser.open(server, { javaScriptEnabled: false });
    await plain.goto("/live");
    assert.match(await plain.locator("#lines").innerText(), /insert|get/);
    await plain.goto("/rows?keyspace=BloggyAppy&family=BlogEntries&key=hello-world");
    assert.match(await plain.locator("main").innerText(), /Hello, world/);
    await plain.context().close();
  });
});

describe("the test double", () => {
  const press = async (name) => {
    await page.getByRole("button", { name, exact: true }).click();
    await check(page);
  };

  test("takes snapshots and returns to them", async () => {
    await page.goto("/double");
    await check(page);
    await page.getByLabel("Name of a new snapshot").fill("seeded");
    await press("Take it");
    await press("Remove all rows");
    await page.goto("/rows?keyspace=BloggyAppy&family=Authors");
    assert.match(await page.locator("main").innerText(), /There are no rows/);
    await page.goto("/double");
    await press("Return to seeded");
    await page.goto("/rows?keyspace=BloggyAppy&family=Authors");
    assert.match(await page.locator("main").innerText(), /Ada Lindqvist/);
    await page.goto("/double");
    await press("Delete seeded");
    assert.match(await page.locator("main").innerText(), /There is no snapshot/);
  });

  test("stops and moves the clock", async () => {
    await page.goto("/double");
    await press("Stop it");
    await page.getByLabel("Time in UTC").fill("2012-01-01T00:00:00Z");
    await press("Set it");
    assert.match(await page.locator("main").innerText(), /2012-01-01/);
    await page.getByLabel("Seconds").fill("86400");
    await press("Move it");
    assert.match(await page.locator("main").innerText(), /2012-01-02/);
    await press("Let it run");
    await press("Follow the system's");
  });

  test("sets faults, shows their effect, and removes them", async () => {
    await page.goto("/double");
    await page.getByLabel("Name", { exact: true }).fill("slow-inserts");
    await page.getByLabel("the method").fill("insert");
    await page.getByLabel("Delay in ms").fill("5");
    await press("Set the rule");
    await picture(page, "double");
    await stress(server, "--operation", "insert", "--ops", "5", "--connections", "1");
    await page.goto("/double");
    const rule = page.locator("tr", { hasText: "slow-inserts" });
    assert.match(await rule.innerText(), /5/);
    await press("Remove slow-inserts");
    assert.equal(await page.locator("tr", { hasText: "slow-inserts" }).count(), 0);
  });
});
