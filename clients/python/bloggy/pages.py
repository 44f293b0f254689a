"""The pages of the blog as text. Times are in UTC."""

from datetime import datetime, timezone


def list_page(heading, posts):
    return "\n\n".join([heading, *map(summary, posts)])


def summary(post):
    margin = " " * 18
    return f"{clock(post.time)}  {post.title}\n{margin}{byline(post)}\n{margin}{post.slug}"


def post_page(post, comments):
    head = f"{post.title}\n{clock(post.time)} {byline(post)}"
    count = "1 comment" if len(comments) == 1 else f"{len(comments)} comments"
    return "\n\n".join([head, post.body, count, *map(remark, comments)])


def remark(comment):
    text = comment.text.replace("\n", "\n    ")
    return f"{clock(comment.time)}  {comment.commenter} <{comment.email}>\n    {text}"


def author_page(name, profile):
    return "\n".join([name, "", *(f"{field:<10}  {value}" for field, value in profile.items())])


def byline(post):
    tags = f" in {', '.join(post.tags)}" if post.tags else ""
    return f"by {post.author}{tags}"


def clock(millis):
    return datetime.fromtimestamp(millis / 1000, timezone.utc).strftime("%Y-%m-%d %H:%M")
