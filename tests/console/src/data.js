// The data that the tests look at: the blog, tables of CQL, a wide row, and names that try to break a page.

"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { timeUuid } = require("../../../clients/node/src/time-uuid.js");

const SEED = path.join(__dirname, "../../../clients/seed.json");
const TABLES = fs.readFileSync(path.join(__dirname, "tables.cql"), "utf8");

const hex = (bytes) => ({ hex: Buffer.from(bytes).toString("hex") });
const cell = (name, value, seconds) => ({ name, value, timestamp: seconds * 1_000_000 });
const cells = (fields, seconds) => Object.entries(fields).map(([name, value]) => cell(name, String(value), seconds));

// The rows of the blog, as the clients of this repository write them.
function blog() {
  const { authors, posts, comments } = JSON.parse(fs.readFileSync(SEED, "utf8"));
  const rows = (map) => [...map].map(([key, cells]) => ({ key, cells }));
  const entries = new Map(),
    tags = new Map(),
    commented = new Map();
  for (const { tags: of, time, ...post } of posts) {
    entries.set(post.slug, cells({ ...post, tags: of.join(","), pubDate: time }, time));
    for (const tag of [...of, "__notag__"]) {
      tags.set(tag, [...(tags.get(tag) ?? []), cell(hex(timeUuid(time * 1000, post.slug)), post.slug, time)]);
    }
  }
  for (const { slug, time, text, commenter, email } of comments) {
    const super_column = hex(timeUuid(time * 1000, commenter + text));
    const of = cells({ commenter, email, comment: text, commentTime: time }, time).map((cell) => ({
      ...cell,
      super_column,
    }));
    commented.set(slug, [...(commented.get(slug) ?? []), ...of]);
  }
  const family = (name, rows) => ({ keyspace: "BloggyAppy", name, rows });
  return [
    family(
      "Authors",
      authors.map(({ name, joined, profile }) => ({ key: name, cells: cells(profile, joined) })),
    ),
    family("BlogEntries", rows(entries)),
    family("TaggedPosts", rows(tags)),
    family("Comments", rows(commented)),
  ];
}

// Names and values that a page must show without being changed by them.
const HOSTILE = {
  html: `<script>document.title = "broken"</script><b>"'&`,
  control: "line\nfeed\u0000null\u001b[31mred\u0007",
  bidirectional: "abc\u202egnp.exe\u2066",
  hebrew: "שלום עולם",
  invalid: Buffer.from([0xff, 0xfe, 0x00, 0x80]),
  long: "n".repeat(65_000),
};

function hostile() {
  const family = (name, texts) => {
    const row = (key) => ({ key: hex(key), cells: texts.map((text) => cell(hex(text), hex(text), 1)) });
    return { keyspace: "Keyspace1", name, rows: texts.map(row) };
  };
  const { invalid, ...valid } = HOSTILE;
  // Names of Standard1 are bytes, those of Standard2 are UTF-8.
  return [family("Standard1", [invalid, ...Object.values(valid)]), family("Standard2", Object.values(valid))];
}

// A part of the wide row: `count` cells with names from `start` on.
function wide(start, count) {
  const name = (number) => ({ typed: String(number) });
  const cells = Array.from({ length: count }, (_, at) => cell(name(start + at), `value ${start + at}`, 1));
  return [{ keyspace: "Keyspace1", name: "StandardLong1", rows: [{ key: "wide", cells }] }];
}

// Loads everything. The wide row gets so many cells.
async function load(server, wideCells) {
  const rows = (column_families) => server.control("POST", "/load", JSON.stringify({ column_families }));
  await server.control("POST", "/load", TABLES, "text/x-cql");
  await rows([...blog(), ...hostile()]);
  for (let start = 0; start < wideCells; start += 100_000) {
    await rows(wide(start, Math.min(100_000, wideCells - start)));
  }
}

module.exports = { HOSTILE, load };
