// A part of a blog on helenus: posts, their comments and their tags.
"use strict";

const { promisify } = require("node:util");
const helenus = require("helenus");
const types = require("helenus/lib/cassandra/cassandra_types");

const KEYSPACE = "BloggyAppy";

// The row of TaggedPosts that lists every post.
const EVERY_POST = "__notag__";

const PREVIEW_S = 3600;

class Blog {
  static async connect(address) {
    const blog = new Blog();
    blog.pool = new helenus.ConnectionPool({ hosts: [address], keyspace: KEYSPACE, timeout: 3000 });
    blog.pool.on("error", () => {});
    const keyspace = await promisify(blog.pool.connect).call(blog.pool);
    for (const name of ["BlogEntries", "TaggedPosts"]) {
      blog[name] = await promisify(keyspace.get).call(keyspace, name);
    }
    blog.execute = promisify(keyspace.connection.execute).bind(keyspace.connection);
    return blog;
  }

  close() {
    this.pool.close();
  }

  // Writes a post and lists it under its tags.
  async publish(slug, title, { tags = [], at = new Date() } = {}) {
    await insert(this.BlogEntries, slug, { title });
    for (const tag of [...tags, EVERY_POST]) {
      await insert(this.TaggedPosts, tag, [new helenus.Column(timeUuid(at), slug)]);
    }
  }

  // Writes a post that is removed after an hour, and is not listed.
  async preview(slug, title) {
    await insert(this.BlogEntries, slug, { title }, { ttl: PREVIEW_S });
  }

  // Returns undefined if there is no such post.
  async title(slug) {
    const row = await get(this.BlogEntries, slug);
    return row.length > 0 ? String(row.get("title").value) : undefined;
  }

  // Returns the slugs of the posts with this tag, the newest first.
  async tagged(tag = EVERY_POST) {
    return values(await get(this.TaggedPosts, tag, { reversed: true }));
  }

  // Writes a comment, once more if the first time fails. The second write has the same name, so the comment is not there
  // twice if the first was applied. helenus writes no super columns, so these are calls of Thrift.
  async comment(slug, author, text, at = new Date()) {
    const timestamp = at.getTime() * 1000;
    const column = (name, value) => new types.Column({ name, value, timestamp });
    const comment = new types.SuperColumn({
      name: timeUuid(at).toBuffer(),
      columns: [column("comment", text), column("commenter", author)],
    });
    const written = new types.ColumnOrSuperColumn({ super_column: comment });
    const mutations = { [slug]: { Comments: [new types.Mutation({ column_or_supercolumn: written })] } };
    try {
      await this.execute("batch_mutate", mutations, types.ConsistencyLevel.ONE);
    } catch {
      await this.execute("batch_mutate", mutations, types.ConsistencyLevel.ONE);
    }
  }

  // Returns authors and texts, the oldest first.
  async commentsOn(slug) {
    const range = new types.SliceRange({ start: "", finish: "", reversed: false, count: 100 });
    const predicate = new types.SlicePredicate({ slice_range: range });
    const parent = new types.ColumnParent({ column_family: "Comments" });
    const found = await this.execute("get_slice", slug, parent, predicate, types.ConsistencyLevel.ONE);
    return found.map(({ super_column: comment }) => {
      const [text, author] = comment.columns.map((column) => String(column.value));
      return [author, text];
    });
  }
}

function timeUuid(at) {
  return helenus.TimeUUID.fromTimestamp(at);
}

function values(row) {
  return Array.from({ length: row.length }, (_, place) => String(row[place].value));
}

function insert(family, ...args) {
  return promisify(family.insert).call(family, ...args);
}

function get(family, ...args) {
  return promisify(family.get).call(family, ...args);
}

module.exports = { Blog };
