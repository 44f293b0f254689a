//! Answers of calls that differ between the releases of 0.7 and later.

use crate::support;
use support::client::Style;
use support::server::{Server, storage_conf};
use support::value::{Value, fields, text};

#[test]
fn the_token_map_of_1_1_wraps_tokens_that_are_bytes() {
    for (partitioner, release, shown) in [
        ("ByteOrderedPartitioner", "1.1", "Token(bytes[0abc])"),
        ("ByteOrderedPartitioner", "1.2", "0abc"),
        ("OrderPreservingPartitioner", "1.1", "abc"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let more = format!("<Partitioner>{partitioner}</Partitioner><InitialToken>abc</InitialToken>");
        let config = storage_conf(&more);
        let server = Server::start(directory.path(), &config, &["--ephemeral", "--compat", release]);
        let mut client = server.client(Style::FRAMED);
        let tokens = client.call("describe_token_map", &fields([])).value().clone();
        let Value::Map(_, _, pairs) = tokens else { panic!("{tokens:?}") };
        assert_eq!(pairs, [(text(shown), text("127.0.0.1"))], "{partitioner} {release}");
    }
}
