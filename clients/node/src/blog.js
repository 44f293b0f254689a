// The blog as rows and columns. Each section is one column family; read this file to learn the data model.
//
// A post is { slug, title, body, author, tags, time }, a comment { commenter, email, text, time }. Times are
// in milliseconds since 1970 everywhere.

"use strict";

const {
  Column,
  ColumnOrSuperColumn,
  ColumnParent,
  ColumnPath,
  ConsistencyLevel,
  Mutation,
  SlicePredicate,
  SliceRange,
  SuperColumn,
} = require("../gen-nodejs/cassandra-0.6_types");
const { timeUuid } = require("./time-uuid");

const KEYSPACE = "BloggyAppy";
const { ONE } = ConsistencyLevel;

// The row of TaggedPosts that lists every post, tagged or not.
const EVERY_POST = "__notag__";

// What the pages need, on top of a generated Cassandra client.
class Blog {
  constructor(client) {
    this.client = client;
  }

  // Authors: one row per author, under the full name. Its columns are whatever that author tells.

  async saveAuthor(name, profile, time) {
    for (const [field, value] of Object.entries(profile)) {
      const path = new ColumnPath({ column_family: "Authors", column: Buffer.from(field) });
      await this.client.insert(KEYSPACE, name, path, Buffer.from(value), micros(time), ONE);
    }
  }

  // The profile, sorted by field as the server keeps it; empty if there is no such author.
  async author(name) {
    return fieldsOf(await this.#slice("Authors", name, first(100)));
  }

  // BlogEntries: one row per post, under its slug.

  // Writes the entry and lists it under its tags: one batch that touches several rows.
  async publish({ slug, title, body, author, tags, time }) {
    const entry = { slug, title, body, author, tags: tags.join(","), pubDate: seconds(time) };
    const listed = column(timeUuid(time, slug), slug, time);
    const mutations = { [slug]: { BlogEntries: columns(entry, time).map((column) => write({ column })) } };
    for (const tag of [...tags, EVERY_POST]) {
      mutations[tag] = { ...mutations[tag], TaggedPosts: [write({ column: listed })] };
    }
    await this.client.batch_mutate(KEYSPACE, mutations, ONE);
  }

  // The entries of these slugs in this order, without those that do not exist.
  async posts(slugs) {
    const parent = new ColumnParent({ column_family: "BlogEntries" });
    const rows = await this.client.multiget_slice(KEYSPACE, slugs, parent, first(100), ONE);
    return slugs.filter((slug) => rows[slug].length > 0).map((slug) => postOf(fieldsOf(rows[slug])));
  }

  // TaggedPosts: one row per tag, and one for every post. Names are time UUIDs, values are slugs.

  async latestPosts(count) {
    return this.posts(await this.#slugs(EVERY_POST, last(count)));
  }

  // Newest first, and not more than a hundred.
  async postsTagged(tag) {
    return this.posts(await this.#slugs(tag, last(100)));
  }

  async #slugs(tag, predicate) {
    const entries = await this.#slice("TaggedPosts", tag, predicate);
    return entries.map(({ column }) => column.value.toString());
  }

  // Comments: one row per post, under its slug. Each comment is a super column named by a time UUID.

  async addComment(slug, { commenter, email, text, time }) {
    const fields = { commenter, email, comment: text, commentTime: seconds(time) };
    const name = timeUuid(time, commenter + text);
    const super_column = new SuperColumn({ name, columns: columns(fields, time) });
    await this.client.batch_mutate(KEYSPACE, { [slug]: { Comments: [write({ super_column })] } }, ONE);
  }

  // Oldest first.
  async comments(slug) {
    const entries = await this.#slice("Comments", slug, first(100));
    return entries.map(({ super_column }) => commentOf(decoded(super_column.columns)));
  }

  #slice(columnFamily, key, predicate) {
    const parent = new ColumnParent({ column_family: columnFamily });
    return this.client.get_slice(KEYSPACE, key, parent, predicate, ONE);
  }
}

function first(count) {
  return slice(false, count);
}

function last(count) {
  return slice(true, count);
}

function slice(reversed, count) {
  const open = Buffer.alloc(0);
  return new SlicePredicate({ slice_range: new SliceRange({ start: open, finish: open, reversed, count }) });
}

// The timestamp of a write: of two values for one column, the one with the greater timestamp stays.
function micros(millis) {
  return millis * 1000;
}

function seconds(millis) {
  return String(Math.floor(millis / 1000));
}

function columns(fields, time) {
  return Object.entries(fields).map(([name, value]) => column(name, value, time));
}

function column(name, value, time) {
  return new Column({ name: Buffer.from(name), value: Buffer.from(value), timestamp: micros(time) });
}

function write(columnOrSuperColumn) {
  return new Mutation({ column_or_supercolumn: new ColumnOrSuperColumn(columnOrSuperColumn) });
}

function fieldsOf(entries) {
  return decoded(entries.map(({ column }) => column));
}

function decoded(columns) {
  return new Map(columns.map(({ name, value }) => [name.toString(), value.toString()]));
}

function postOf(fields) {
  return {
    slug: fields.get("slug"),
    title: fields.get("title"),
    body: fields.get("body"),
    author: fields.get("author"),
    tags: fields.get("tags").split(",").filter(Boolean),
    time: Number(fields.get("pubDate")) * 1000,
  };
}

function commentOf(fields) {
  return {
    commenter: fields.get("commenter"),
    email: fields.get("email"),
    text: fields.get("comment"),
    time: Number(fields.get("commentTime")) * 1000,
  };
}

module.exports = { Blog };
