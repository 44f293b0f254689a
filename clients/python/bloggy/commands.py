"""The commands: each returns the text to print, or raises a Failure with a reason."""

import json

from . import pages
from .blog import Comment, Post

SEED_FILE = "../seed.json"

# How many operands each command takes.
OPERANDS = {"seed": 0, "front": 0, "post": 1, "tag": 1, "author": 1, "write": 5, "comment": 4}


class Failure(Exception):
    """A command cannot be executed; the text is the reason."""


class Commands:
    def __init__(self, blog, now):
        self.blog = blog
        self.now = now

    def seed(self):
        with open(SEED_FILE, encoding="utf-8") as file:
            sample = json.load(file)
        authors, posts, comments = sample["authors"], sample["posts"], sample["comments"]
        for author in authors:
            self.blog.save_author(author["name"], author["profile"], author["joined"] * 1000)
        for post in posts:
            post["time"] *= 1000
            self.blog.publish(Post(**post))
        for comment in comments:
            comment["time"] *= 1000
            self.blog.add_comment(comment.pop("slug"), Comment(**comment))
        return f"Wrote {len(authors)} authors, {len(posts)} posts and {len(comments)} comments."

    def front(self):
        posts = self.blog.latest_posts(10)
        if not posts:
            raise Failure("there are no posts yet; the command seed writes some")
        return pages.list_page("The latest posts", posts)

    def post(self, slug):
        return pages.post_page(self._existing_post(slug), self.blog.comments(slug))

    def tag(self, name):
        posts = self.blog.posts_tagged(name)
        if not posts:
            raise Failure(f"no post is tagged {name}")
        return pages.list_page(f"Posts tagged {name}", posts)

    def author(self, name):
        return pages.author_page(name, self._existing_author(name))

    def write(self, slug, title, author, tags, text):
        self._existing_author(author)
        if self.blog.posts([slug]):
            raise Failure(f"there is a post {slug} already")
        self.blog.publish(Post(slug, title, text, author, [tag for tag in tags.split(",") if tag], self.now))
        return f"Published {slug}."

    def comment(self, slug, name, email, text):
        self._existing_post(slug)
        self.blog.add_comment(slug, Comment(name, email, text, self.now))
        return f"Commented on {slug}."

    def _existing_post(self, slug):
        posts = self.blog.posts([slug])
        if not posts:
            raise Failure(f"there is no post {slug}")
        return posts[0]

    def _existing_author(self, name):
        profile = self.blog.author(name)
        if not profile:
            raise Failure(f"there is no author {name}")
        return profile
