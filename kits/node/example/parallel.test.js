// Tests that run at the same time: each has a sandbox.
"use strict";

require("./today");
const assert = require("node:assert/strict");
const { after, before, describe, test } = require("node:test");
const { start } = require("thriftstore");
const { Blog } = require("./blog");

describe("the only post", { concurrency: 4 }, () => {
  let server;
  before(async () => {
    server = await start({ compat: "1.2" });
  });
  after(() => server.stop());

  for (const title of ["Salted", "Sweet", "Burnt", "Cold"]) {
    test(title, async () => {
      const sandbox = await server.sandbox();
      const blog = await Blog.connect(sandbox.thrift);
      for (let number = 0; number < 20; number += 1) {
        await blog.publish(`post-${number}`, title);
      }
      assert.equal(await blog.title("post-7"), title);
      assert.equal((await blog.tagged()).length, 20);
      blog.close();
      await sandbox.delete();
    });
  }
});
