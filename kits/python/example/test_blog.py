"""Tests of the blog. They run one after another, and each begins with an empty blog."""

import pytest
from pycassa.pool import MaximumRetryException


def test_a_post(blog):
    blog.publish("popcorn", "How to make popcorn")
    assert blog.title("popcorn") == "How to make popcorn"
    assert blog.title("crisps") is None


def test_the_newest_post_comes_first(blog):
    assert blog.tagged() == []
    blog.publish("guitar", "A new guitar", tags=["music", "life"], at=1250558004)
    blog.publish("scream", "The best film", tags=["film"], at=1250558124)
    blog.publish("drums", "No drums, please", tags=["music"], at=1250558064)
    assert blog.tagged() == ["scream", "drums", "guitar"]
    assert blog.tagged("music") == ["drums", "guitar"]


def test_comments(blog):
    blog.comment("popcorn", "Zoe", "Salt!", at=1250558200)
    blog.comment("popcorn", "Ada", "Sugar.", at=1250558100)
    assert blog.comments_on("popcorn") == [("Ada", "Sugar."), ("Zoe", "Salt!")]


def test_a_preview_is_removed_after_an_hour(blog, clock):
    clock.freeze()
    blog.preview("popcorn", "How to make popcorn")
    clock.advance(minutes=59)
    assert blog.title("popcorn") == "How to make popcorn"
    clock.advance(minutes=1)
    assert blog.title("popcorn") is None


def test_a_comment_that_was_applied_although_it_timed_out_is_there_once(blog, faults, thriftstore):
    with faults.add(
        column_family="Comments", key="popcorn", error="timed_out", applied=True, times=1
    ) as lost:
        blog.comment("popcorn", "Ada", "Sugar.")
    assert lost.hits == 1
    assert blog.comments_on("popcorn") == [("Ada", "Sugar.")]
    thriftstore.requests.verify(method="batch_mutate", column_family="Comments", times=2)


def test_a_post_that_times_out_may_be_written(blog, faults):
    with faults.add(
        operation="write", column_family="BlogEntries", error="timed_out", applied=True
    ):
        with pytest.raises(MaximumRetryException, match="TimedOutException"):
            blog.publish("popcorn", "How to make popcorn")
    assert blog.title("popcorn") == "How to make popcorn"
    assert blog.tagged() == []


def test_the_order_of_the_writes_of_a_post(blog, thriftstore):
    blog.publish("popcorn", "How to make popcorn")
    thriftstore.requests.verify_in_order(
        {"column_family": "BlogEntries"}, {"column_family": "TaggedPosts"}
    )


def test_snapshots_return_to_a_prepared_blog(blog, thriftstore):
    blog.publish("popcorn", "How to make popcorn")
    thriftstore.snapshot()
    blog.publish("popcorn", "How to burn popcorn")
    thriftstore.restore()
    assert blog.title("popcorn") == "How to make popcorn"
