// What the reader sees: each page is a text, times are in UTC.

"use strict";

function listPage(heading, posts) {
  return [heading, ...posts.map(summary)].join("\n\n");
}

function summary(post) {
  const margin = " ".repeat(18);
  return `${clock(post.time)}  ${post.title}\n${margin}${byline(post)}\n${margin}${post.slug}`;
}

function postPage(post, comments) {
  const head = `${post.title}\n${clock(post.time)} ${byline(post)}`;
  const count = comments.length === 1 ? "1 comment" : `${comments.length} comments`;
  return [head, post.body, count, ...comments.map(remark)].join("\n\n");
}

function remark({ commenter, email, text, time }) {
  return `${clock(time)}  ${commenter} <${email}>\n    ${text.replaceAll("\n", "\n    ")}`;
}

function authorPage(name, profile) {
  const lines = [...profile].map(([field, value]) => `${field.padEnd(10)}  ${value}`);
  return [name, "", ...lines].join("\n");
}

function byline({ author, tags }) {
  return tags.length > 0 ? `by ${author} in ${tags.join(", ")}` : `by ${author}`;
}

function clock(millis) {
  return new Date(millis).toISOString().slice(0, 16).replace("T", " ");
}

module.exports = { authorPage, listPage, postPage };
