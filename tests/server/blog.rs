//! The blog of a Cassandra article of 2009, written and read call by call, and mistakes that its readers made.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::support;

use support::calls::*;
use support::client::{Client, Style};
use support::server::Server;
use support::value::Value;

fn uuid(text: &str) -> Vec<u8> {
    text.parse::<uuid::Uuid>().unwrap().as_bytes().to_vec()
}

struct Blog {
    posts: [Vec<u8>; 3],
    comments: [Vec<u8>; 2],
}

const SLUGS: [&str; 3] = ["i-got-a-new-guitar", "another-cool-guitar", "scream-is-the-best-movie-ever"];
const BLOG: &str = "BloggyAppy";
const NOW: i64 = 1_250_558_004_000_000;

impl Blog {
    fn new() -> Blog {
        Blog {
            posts: [
                uuid("537fd200-8b94-11de-8000-000000000001"),
                uuid("77431800-8b94-11de-8000-000000000001"),
                uuid("9b065e00-8b94-11de-8000-000000000001"),
            ],
            comments: [
                uuid("edecf200-8a7c-11de-8000-000000000001"),
                uuid("ff73ee00-8b91-11de-8000-000000000001"),
            ],
        }
    }

    fn write(&self, client: &mut Client) {
        for (name, value) in
            [("twitter", "one"), ("email", "one@example.com"), ("numPosts", "3"), ("bio", "writes")]
        {
            let path = path("Authors", None, Some(name.as_bytes()));
            client
                .call("insert", &insert_args(BLOG, b"Author One", path, (value.as_bytes(), NOW), ONE))
                .void();
        }
        let tags = [&["life", "guitar", "music"][..], &["guitar"], &["movie", "horror"]];
        for ((slug, post), tags) in SLUGS.iter().zip(&self.posts).zip(tags) {
            let entry = ["title", "body", "author", "tags", "pubDate", "slug"]
                .map(|name| write(column(name.as_bytes(), format!("{name} of {slug}").as_bytes(), NOW)));
            let tagged = || vec![("TaggedPosts", vec![write(column(post, slug.as_bytes(), NOW))])];
            let mut batch = vec![(*slug, vec![("BlogEntries", entry.to_vec())]), ("__notag__", tagged())];
            batch.extend(tags.iter().map(|tag| (*tag, tagged())));
            client.call("batch_mutate", &batch_mutate_args(BLOG, rows(batch), ONE)).void();
        }
        for comment in [&self.comments[1], &self.comments[0]] {
            let columns = ["commenter", "email", "comment", "commentTime"]
                .map(|name| column(name.as_bytes(), name.as_bytes(), NOW));
            let batch =
                rows(vec![(SLUGS[2], vec![("Comments", vec![write_super(comment, columns.to_vec())])])]);
            client.call("batch_mutate", &batch_mutate_args(BLOG, batch, ONE)).void();
        }
    }

    fn tagged(client: &mut Client, tag: &str, predicate: Value) -> Vec<String> {
        let args = get_slice_args(BLOG, tag.as_bytes(), parent("TaggedPosts", None), predicate, ONE);
        values(client.call("get_slice", &args).value())
    }

    fn read(&self, client: &mut Client) {
        let [p1, p2, p3] = &self.posts;
        let author =
            get_slice_args(BLOG, b"Author One", parent("Authors", None), slice(b"", b"", false, 100), ONE);
        let found = client.call("get_slice", &author);
        assert_eq!(column_names(found.value()), ["bio", "email", "numPosts", "twitter"]);

        let [s1, s2, s3] = SLUGS;
        assert_eq!(Blog::tagged(client, "__notag__", slice(b"", b"", true, 10)), [s3, s2, s1]);
        assert_eq!(Blog::tagged(client, "__notag__", slice(p2, b"", true, 2)), [s2, s1]);
        assert_eq!(Blog::tagged(client, "guitar", slice(b"", b"", false, 10)), [s1, s2]);
        assert_eq!(Blog::tagged(client, "__notag__", slice(p3, p1, true, 10)), [s3, s2, s1]);

        let args = multiget_slice_args(BLOG, &SLUGS, parent("BlogEntries", None), everything());
        let entries = client.call("multiget_slice", &args);
        for slug in SLUGS {
            let found = entries.value().at(slug);
            assert_eq!(column_names(found), ["author", "body", "pubDate", "slug", "tags", "title"]);
            assert_eq!(values(found)[5], format!("title of {slug}"));
        }
        self.read_comments(client);

        let args = range_slices_args(
            BLOG,
            parent("BlogEntries", None),
            slice(b"", b"", false, 1),
            key_range("", "", 100),
            ONE,
        );
        let all = client.call("get_range_slices", &args);
        let keys: Vec<&str> = all.value().items().iter().map(|row| row.field(1).str()).collect();
        assert_eq!(keys, [s2, s1, s3], "in the order of their tokens");
    }

    fn read_comments(&self, client: &mut Client) {
        let in_order = ["comment", "commentTime", "commenter", "email"];
        let slug = SLUGS[2].as_bytes();
        let args = get_slice_args(BLOG, slug, parent("Comments", None), everything(), ONE);
        let comments = client.call("get_slice", &args);
        let supers: Vec<&Value> = comments.value().items().iter().map(|found| found.field(2)).collect();
        assert_eq!(supers.len(), 2);
        for (found, expected) in supers.iter().zip(&self.comments) {
            assert_eq!(found.field(1).bytes(), expected);
            let names: Vec<&str> =
                found.field(2).items().iter().map(|column| column.field(1).str()).collect();
            assert_eq!(names, in_order);
        }
        let count = client.call("get_count", &get_args(BLOG, slug, parent("Comments", None), ONE));
        assert_eq!(count.value().int(), 2);
        let one = parent("Comments", Some(&self.comments[0]));
        let found = client.call("get_slice", &get_slice_args(BLOG, slug, one, everything(), ONE));
        assert_eq!(column_names(found.value()), in_order);
    }
}

#[test]
fn the_blog_works_with_every_transport_and_header_style() {
    for style in Style::ALL {
        let (server, _directory) = Server::ephemeral(&[]);
        let mut client = server.client(style);
        let blog = Blog::new();
        blog.write(&mut client);
        blog.read(&mut client);
        let removed = path("TaggedPosts", None, Some(&blog.posts[0]));
        client.call("remove", &remove_args(BLOG, b"__notag__", removed, NOW + 1, ONE)).void();
        let front_page = Blog::tagged(&mut client, "__notag__", slice(b"", b"", true, 10));
        assert_eq!(front_page, [SLUGS[2], SLUGS[1]]);
        server.stop();
    }
}

#[test]
fn classic_mistakes_get_the_texts_of_old_servers() {
    let blog = Blog::new();
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    let mut insert = |path| client.call("insert", &insert_args(BLOG, b"row", path, (b"v", 1), ONE));
    let tagged = |name: &[u8]| path("TaggedPosts", None, Some(name));
    let slug = SLUGS[0].as_bytes();
    assert_eq!(insert(tagged(slug)).why(), "UUIDs must be exactly 16 bytes");
    let of_text = b"537fd200-8b94-11de-8000-000000000001";
    assert_eq!(insert(tagged(of_text)).why(), "UUIDs must be exactly 16 bytes");
    let random = uuid("0d4b5a30-7d3b-4a9c-8a3e-3f1f0f2b6c11");
    assert_eq!(insert(tagged(&random)).why(), "TimeUUID only makes sense with version 1 UUIDs");
    assert_eq!(
        insert(path("Comments", None, Some(&blog.comments[0]))).why(),
        "supercolumn parameter is not optional for super CF Comments"
    );
    assert_eq!(
        insert(path("BlogEntries", Some(b"x"), Some(b"y"))).why(),
        "supercolumn parameter is invalid for standard CF BlogEntries"
    );
    assert_eq!(
        insert(path("Comments", Some(b"email"), Some(&blog.comments[0]))).why(),
        "UUIDs must be exactly 16 bytes"
    );
    let backwards = slice(&blog.posts[0], &blog.posts[2], true, 10);
    let args = get_slice_args(BLOG, b"__notag__", parent("TaggedPosts", None), backwards, ONE);
    assert_eq!(
        client.call("get_slice", &args).why(),
        "range finish must come after start in the order of traversal"
    );
    let path = path("Comments", None, Some(&blog.comments[0]));
    let removed = client.call("remove", &remove_args(BLOG, slug, path, 1, ONE));
    assert!(removed.why().contains("super_column"), "the mistake is explained: {removed:?}");
    check_alive(&mut client);
}
