"""A part of a blog on pycassa: posts, their comments and their tags."""

import time

from pycassa.cassandra.ttypes import NotFoundException
from pycassa.columnfamily import ColumnFamily
from pycassa.pool import ConnectionPool, MaximumRetryException
from pycassa.util import convert_time_to_uuid

KEYSPACE = "BloggyAppy"

# The row of TaggedPosts that lists every post.
EVERY_POST = "__notag__"

PREVIEW_S = 3600


class Blog(object):
    def __init__(self, server, timeout=5):
        # The blog decides itself what to do after an error.
        self.pool = ConnectionPool(KEYSPACE, [server], timeout=timeout, max_retries=0)
        self.entries = ColumnFamily(self.pool, "BlogEntries")
        self.tags = ColumnFamily(self.pool, "TaggedPosts")
        self.comments = ColumnFamily(self.pool, "Comments")

    def close(self):
        self.pool.dispose()

    def publish(self, slug, title, tags=(), at=None):
        """Writes a post and lists it under its tags."""
        at = convert_time_to_uuid(at or time.time())
        self.entries.insert(slug, {"title": title})
        for tag in list(tags) + [EVERY_POST]:
            self.tags.insert(tag, {at: slug})

    def preview(self, slug, title):
        """Writes a post that is removed after an hour, and is not listed."""
        self.entries.insert(slug, {"title": title}, ttl=PREVIEW_S)

    def title(self, slug):
        """Returns None if there is no such post."""
        try:
            return self.entries.get(slug)["title"]
        except NotFoundException:
            return None

    def tagged(self, tag=EVERY_POST):
        """Returns the slugs of the posts with this tag, the newest first."""
        try:
            return list(self.tags.get(tag, column_reversed=True).values())
        except NotFoundException:
            return []

    def comment(self, slug, author, text, at=None):
        """Writes a comment, once more if the first time fails.

        The second write has the same name, so the comment is not there twice if the first was applied.
        """
        comment = {convert_time_to_uuid(at or time.time()): {"commenter": author, "comment": text}}
        try:
            self.comments.insert(slug, comment)
        except MaximumRetryException:
            self.comments.insert(slug, comment)

    def comments_on(self, slug):
        """Returns authors and texts, the oldest first."""
        try:
            found = self.comments.get(slug)
        except NotFoundException:
            return []
        return [(comment["commenter"], comment["comment"]) for comment in found.values()]
