// A server with passwords: logging in, seeing what the user may see, and logging out.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { after, before, test } = require("node:test");
const { Browser, check, picture } = require("../src/browser.js");
const { Server } = require("../src/server.js");

const CONFIG = `<Storage>
  <ClusterName>passwords</ClusterName>
  <Authenticator>PasswordAuthenticator</Authenticator>
  <Authorizer>CassandraAuthorizer</Authorizer>
  <Keyspaces><Keyspace Name="Shop"><ColumnFamily Name="Carts" CompareWith="UTF8Type"/></Keyspace></Keyspaces>
  <Partitioner>org.apache.cassandra.dht.RandomPartitioner</Partitioner>
</Storage>`;

let directory, server, browser, page;

before(async () => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), "console-login-"));
  const config = path.join(directory, "storage-conf.xml");
  fs.writeFileSync(config, CONFIG);
  server = await Server.start("--config", config);
  browser = await Browser.start();
  page = await browser.open(server);
});

after(async () => {
  await browser?.stop();
  await server?.stop();
  fs.rmSync(directory, { recursive: true });
});

async function logIn(user, password) {
  await page.getByLabel("User").fill(user);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
}

async function ask(statement) {
  await page.goto("/ask");
  await page.getByLabel("Statement").fill(statement);
  await page.getByRole("button", { name: "Run, with changes" }).click();
  return page.locator("main").innerText();
}

test("a login leads to the page that was asked for, and a wrong password does not", async () => {
  await page.goto("/rows?keyspace=Shop&family=Carts");
  assert.match(page.url(), /\/login\?next=/);
  await check(page);
  await picture(page, "login");
  await logIn("cassandra", "wrong");
  assert.equal(await page.getByRole("alert").count(), 1);
  await check(page);
  await logIn("cassandra", "cassandra");
  assert.match(page.url(), /\/rows\?keyspace=Shop&family=Carts$/);
  await check(page);
});

test("a user sees what it may read in CQL, and nothing else", async () => {
  await ask("CREATE USER reader WITH PASSWORD 'secret' NOSUPERUSER");
  assert.match(await page.getByRole("navigation", { name: "Pages" }).innerText(), /Live/);
  await page.getByRole("button", { name: /Log out/ }).click();
  await logIn("reader", "secret");
  assert.doesNotMatch(await page.getByRole("navigation", { name: "Pages" }).innerText(), /Live/);
  for (const path of ["/rows?keyspace=Shop&family=Carts", "/keyspaces/Shop", "/live", "/double"]) {
    const reply = await page.goto(path);
    assert.ok([403, 404].includes(reply.status()), `${path}: ${reply.status()}`);
  }
  assert.match(await ask('SELECT * FROM "Shop"."Carts"'), /no SELECT permission/i);
  await check(page);
});

test("nothing is shown after logging out", async () => {
  await page.getByRole("button", { name: /Log out/ }).click();
  await page.goto("/keyspaces");
  assert.match(page.url(), /\/login/);
});
