// The commands: each answers with the text to print, or fails with a reason.

"use strict";

const { readFile } = require("node:fs/promises");

const pages = require("./pages");

const SEED_FILE = "../seed.json";

// What was asked for cannot be done; the message says why.
class Failure extends Error {}

const commands = {
  async seed({ blog }) {
    const { authors, posts, comments } = JSON.parse(await readFile(SEED_FILE, "utf8"));
    for (const { name, profile, joined } of authors) {
      await blog.saveAuthor(name, profile, joined * 1000);
    }
    for (const post of posts) {
      await blog.publish({ ...post, time: post.time * 1000 });
    }
    for (const { slug, ...comment } of comments) {
      await blog.addComment(slug, { ...comment, time: comment.time * 1000 });
    }
    return `Wrote ${authors.length} authors, ${posts.length} posts and ${comments.length} comments.`;
  },

  async front({ blog }) {
    const posts = await blog.latestPosts(10);
    if (posts.length === 0) {
      throw new Failure("there are no posts yet; the command seed writes some");
    }
    return pages.listPage("The latest posts", posts);
  },

  async post({ blog }, slug) {
    return pages.postPage(await existingPost(blog, slug), await blog.comments(slug));
  },

  async tag({ blog }, name) {
    const posts = await blog.postsTagged(name);
    if (posts.length === 0) {
      throw new Failure(`no post is tagged ${name}`);
    }
    return pages.listPage(`Posts tagged ${name}`, posts);
  },

  async author({ blog }, name) {
    return pages.authorPage(name, await existingAuthor(blog, name));
  },

  async write({ blog, now }, slug, title, author, tags, body) {
    await existingAuthor(blog, author);
    if ((await blog.posts([slug])).length > 0) {
      throw new Failure(`there is a post ${slug} already`);
    }
    await blog.publish({ slug, title, body, author, tags: tags.split(",").filter(Boolean), time: now });
    return `Published ${slug}.`;
  },

  async comment({ blog, now }, slug, commenter, email, text) {
    await existingPost(blog, slug);
    await blog.addComment(slug, { commenter, email, text, time: now });
    return `Commented on ${slug}.`;
  },
};

async function existingPost(blog, slug) {
  const [post] = await blog.posts([slug]);
  if (!post) {
    throw new Failure(`there is no post ${slug}`);
  }
  return post;
}

async function existingAuthor(blog, name) {
  const profile = await blog.author(name);
  if (profile.size === 0) {
    throw new Failure(`there is no author ${name}`);
  }
  return profile;
}

module.exports = { Failure, commands };
