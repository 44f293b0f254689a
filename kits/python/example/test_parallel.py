"""Tests that can run at the same time: each has a sandbox. `pytest -n 4` runs them in four processes."""

from threading import Thread

import pytest
from blog import Blog


@pytest.fixture
def blog(thriftstore_sandbox):
    blog = Blog(thriftstore_sandbox.thrift)
    yield blog
    blog.close()


@pytest.mark.parametrize("title", ["Salted", "Sweet", "Burnt", "Cold"])
def test_the_only_post(blog, title):
    blog.publish("popcorn", title)
    assert blog.title("popcorn") == title
    assert blog.tagged() == ["popcorn"]


def test_blogs_of_several_threads(thriftstore):
    def use(sandbox, found):
        blog = Blog(sandbox.thrift)
        for number in range(20):
            blog.publish("post-%d" % number, sandbox.name, at=1250558004 + number)
        found.append(
            (sandbox.name, {blog.title(slug) for slug in blog.tagged()}, len(blog.tagged()))
        )
        blog.close()

    found = []
    sandboxes = [thriftstore.sandbox() for _ in range(4)]
    threads = [Thread(target=use, args=(sandbox, found)) for sandbox in sandboxes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted((sandbox.name, {sandbox.name}, 20) for sandbox in sandboxes)
    for sandbox in sandboxes:
        sandbox.delete()
