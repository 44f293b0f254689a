// Tests of the blog, for Jest and for node:test. Each begins with an empty blog.
"use strict";

require("./today");
const assert = require("node:assert/strict");
const { useThriftstore } = require("thriftstore/testing");
const { Blog } = require("./blog");

const { test, beforeEach, afterEach } = globalThis.test ? globalThis : require("node:test");

const current = useThriftstore({ compat: "1.2" });
let blog;

beforeEach(async () => {
  blog = await Blog.connect(current.database.thrift);
});
afterEach(() => blog.close());

test("a post", async () => {
  await blog.publish("popcorn", "How to make popcorn");
  assert.equal(await blog.title("popcorn"), "How to make popcorn");
  assert.equal(await blog.title("crisps"), undefined);
});

test("the newest post comes first", async () => {
  assert.deepEqual(await blog.tagged(), []);
  await blog.publish("guitar", "A new guitar", { tags: ["music", "life"], at: new Date(1250558004000) });
  await blog.publish("scream", "The best film", { tags: ["film"], at: new Date(1250558124000) });
  await blog.publish("drums", "No drums, please", { tags: ["music"], at: new Date(1250558064000) });
  assert.deepEqual(await blog.tagged(), ["scream", "drums", "guitar"]);
  assert.deepEqual(await blog.tagged("music"), ["drums", "guitar"]);
});

test("comments", async () => {
  await blog.comment("popcorn", "Zoe", "Salt!", new Date(1250558200000));
  await blog.comment("popcorn", "Ada", "Sugar.", new Date(1250558100000));
  assert.deepEqual(await blog.commentsOn("popcorn"), [
    ["Ada", "Sugar."],
    ["Zoe", "Salt!"],
  ]);
});

test("a preview is removed after an hour", async () => {
  const { clock } = current.database;
  await clock.freeze();
  await blog.preview("popcorn", "How to make popcorn");
  await clock.advance({ minutes: 59 });
  assert.equal(await blog.title("popcorn"), "How to make popcorn");
  await clock.advance({ minutes: 1 });
  assert.equal(await blog.title("popcorn"), undefined);
});

test("a comment that was applied although it timed out is there once", async () => {
  const { faults, requests } = current.database;
  const lost = { columnFamily: "Comments", key: "popcorn", error: "timed_out", applied: true, times: 1 };
  const hits = await faults.during(lost, async (fault) => {
    await blog.comment("popcorn", "Ada", "Sugar.");
    return fault.hits();
  });
  assert.equal(hits, 1);
  assert.deepEqual(await blog.commentsOn("popcorn"), [["Ada", "Sugar."]]);
  await requests.verify({ method: "batch_mutate", columnFamily: "Comments" }, 2);
});

test("a post that times out may be written", async () => {
  const rule = { operation: "write", columnFamily: "BlogEntries", error: "timed_out", applied: true };
  await current.database.faults.during(rule, () =>
    assert.rejects(blog.publish("popcorn", "How to make popcorn"), /TimedOut/),
  );
  assert.equal(await blog.title("popcorn"), "How to make popcorn");
  assert.deepEqual(await blog.tagged(), []);
});
