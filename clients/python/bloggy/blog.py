"""The blog as rows and columns. Each section is one column family; read this file to learn the data model."""

from collections import defaultdict
from dataclasses import dataclass

from cassandra.ttypes import (
    Column,
    ColumnOrSuperColumn,
    ColumnParent,
    ColumnPath,
    ConsistencyLevel,
    Mutation,
    SlicePredicate,
    SliceRange,
    SuperColumn,
)

from .time_uuid import time_uuid

KEYSPACE = "BloggyAppy"
ONE = ConsistencyLevel.ONE

# The row of TaggedPosts that lists every post, tagged or not.
EVERY_POST = "__notag__"


@dataclass
class Post:
    slug: str
    title: str
    body: str
    author: str
    tags: list[str]
    time: int  # in milliseconds since 1970, like every time in this program


@dataclass
class Comment:
    commenter: str
    email: str
    text: str
    time: int


class NotOfTheBlog(Exception):
    """A row that another application has written: a column of the blog is missing."""


class Blog:
    """What the pages need, on top of a generated Cassandra client."""

    def __init__(self, client):
        self.client = client

    # Authors: one row per author, whose key is the full name. Its columns are the fields of the author's profile.

    def save_author(self, name, profile, time):
        for field, value in profile.items():
            path = ColumnPath("Authors", column=field.encode())
            self.client.insert(KEYSPACE, name, path, value.encode(), micros(time), ONE)

    def author(self, name):
        """Returns the profile, sorted by field as the server stores it; empty if the author does not exist."""
        return fields_of(self._slice("Authors", name, first(100)))

    # BlogEntries: one row per post, under its slug.

    def publish(self, post):
        """Writes the entry and lists it under its tags: one batch that touches several rows."""
        entry = {
            "slug": post.slug,
            "title": post.title,
            "body": post.body,
            "author": post.author,
            "tags": ",".join(post.tags),
            "pubDate": str(post.time // 1000),
        }
        listed = Column(time_uuid(post.time, post.slug), post.slug.encode(), micros(post.time))
        mutations = defaultdict(dict)
        mutations[post.slug]["BlogEntries"] = [write(column=column) for column in columns(entry, post.time)]
        for tag in [*post.tags, EVERY_POST]:
            mutations[tag]["TaggedPosts"] = [write(column=listed)]
        self.client.batch_mutate(KEYSPACE, mutations, ONE)

    def posts(self, slugs):
        """Returns the entries of these slugs in this order, without those that do not exist."""
        parent = ColumnParent("BlogEntries")
        rows = self.client.multiget_slice(KEYSPACE, slugs, parent, first(100), ONE)
        return [post_of(slug, fields_of(rows[slug])) for slug in slugs if rows[slug]]

    # TaggedPosts: one row per tag, and one for every post. Names are time UUIDs, values are slugs.

    def latest_posts(self, count):
        return self.posts(self._slugs(EVERY_POST, last(count)))

    def posts_tagged(self, tag):
        """Returns the newest posts first, at most a hundred."""
        return self.posts(self._slugs(tag, last(100)))

    def _slugs(self, tag, predicate):
        return [entry.column.value.decode() for entry in self._slice("TaggedPosts", tag, predicate)]

    # Comments: one row per post, under its slug. Each comment is a super column named by a time UUID.

    def add_comment(self, slug, comment):
        fields = {
            "commenter": comment.commenter,
            "email": comment.email,
            "comment": comment.text,
            "commentTime": str(comment.time // 1000),
        }
        name = time_uuid(comment.time, comment.commenter + comment.text)
        super_column = SuperColumn(name, columns(fields, comment.time))
        mutations = {slug: {"Comments": [write(super_column=super_column)]}}
        self.client.batch_mutate(KEYSPACE, mutations, ONE)

    def comments(self, slug):
        """Returns the comments, oldest first."""
        return [comment_of(slug, entry.super_column) for entry in self._slice("Comments", slug, first(100))]

    def _slice(self, column_family, key, predicate):
        return self.client.get_slice(KEYSPACE, key, ColumnParent(column_family), predicate, ONE)


def first(count):
    return SlicePredicate(slice_range=SliceRange(b"", b"", False, count))


def last(count):
    return SlicePredicate(slice_range=SliceRange(b"", b"", True, count))


def micros(millis):
    """Returns the timestamp of a write. Of two values of a column, the one with the larger timestamp wins."""
    return millis * 1000


def columns(fields, time):
    return [Column(name.encode(), value.encode(), micros(time)) for name, value in fields.items()]


def write(column=None, super_column=None):
    return Mutation(ColumnOrSuperColumn(column, super_column))


def fields_of(entries):
    return decoded(entry.column for entry in entries)


def decoded(columns):
    return {column.name.decode(): column.value.decode() for column in columns}


def required(fields, names, row):
    missing = [name for name in names if name not in fields]
    if missing:
        raise NotOfTheBlog(f"the {row} has no column {', '.join(missing)}: this program has not written it")


def post_of(slug, fields):
    required(fields, ["slug", "title", "body", "author", "tags", "pubDate"], f"row {slug!r} of BlogEntries")
    tags = fields["tags"].split(",") if fields["tags"] else []
    time = int(fields["pubDate"]) * 1000
    return Post(fields["slug"], fields["title"], fields["body"], fields["author"], tags, time)


def comment_of(slug, super_column):
    fields = decoded(super_column.columns)
    required(fields, ["commenter", "email", "comment", "commentTime"], f"super column in row {slug!r} of Comments")
    time = int(fields["commentTime"]) * 1000
    return Comment(fields["commenter"], fields["email"], fields["comment"], time)
