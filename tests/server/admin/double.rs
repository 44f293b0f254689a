//! `/double`: snapshots, resets, faults and the clock by forms.

use super::{Admin, Browser, Page};
use crate::support;
use support::calls::{ONE, get_args, insert_args, path};
use support::client::{Client, Reply, Style};

/// Sends a form of the page.
fn send(browser: &mut Browser, fields: &[(&str, &str)]) -> Page {
    let csrf = browser.get("/double").csrf();
    browser.post("/double", &[&[("csrf", &*csrf)], fields].concat())
}

/// Sends a form, and returns the page after it.
fn done(browser: &mut Browser, fields: &[(&str, &str)]) -> String {
    let reply = send(browser, fields);
    assert_eq!(reply.status, 303, "{}", reply.body);
    let next = reply.header("location").unwrap().to_owned();
    let page = browser.get(&next);
    assert_eq!(page.status, 200, "{}", page.body);
    page.body
}

fn insert(client: &mut Client, key: &[u8]) -> Reply {
    let place = path("Standard1", None, Some(b"name"));
    client.call("insert", &insert_args("Keyspace1", key, place, (b"value", 1), ONE))
}

fn exists(client: &mut Client, key: &[u8]) -> bool {
    let place = path("Standard1", None, Some(b"name"));
    let reply = client.call("get", &get_args("Keyspace1", key, place, ONE));
    matches!(reply, Reply::Result(fields) if fields.contains_key(&0))
}

#[test]
fn snapshots_are_taken_and_restored() {
    let admin = Admin::start(&["--control", "127.0.0.1:0"]);
    let (mut browser, mut client) = (admin.browser(), admin.server.client(Style::UNFRAMED));
    insert(&mut client, b"first").void();
    let page = done(&mut browser, &[("action", "take"), ("name", "one")]);
    assert!(
        page.contains("The snapshot was taken.") && page.contains("<th scope=\"row\">one</th>"),
        "{page}"
    );
    insert(&mut client, b"second").void();
    done(&mut browser, &[("action", "restore"), ("name", "one")]);
    assert!(exists(&mut client, b"first") && !exists(&mut client, b"second"));
    let page = done(&mut browser, &[("action", "reset"), ("what", "data")]);
    assert!(page.contains("<th scope=\"row\">one</th>") && !exists(&mut client, b"first"), "{page}");
    let page = done(&mut browser, &[("action", "delete"), ("name", "one")]);
    assert!(page.contains("There is no snapshot."), "{page}");
    admin.server.stop();
}

#[test]
fn faults_are_set_and_removed() {
    let admin = Admin::start(&["--control", "127.0.0.1:0"]);
    let (mut browser, mut client) = (admin.browser(), admin.server.client(Style::UNFRAMED));
    let rule = [
        ("action", "fault"),
        ("name", "late"),
        ("key", "jonas"),
        ("error", "timed_out"),
        ("text", ""),
        ("delay_ms", ""),
        ("times", "1"),
    ];
    let page = done(&mut browser, &rule);
    assert!(page.contains("<th scope=\"row\">late</th>") && page.contains("timed_out"), "{page}");
    let sentence = "requests with key jonas get the error “timed out”, 1 time at most";
    assert!(page.contains(sentence), "{page}");
    assert!(matches!(insert(&mut client, b"jonas"), Reply::Result(fields) if !fields.is_empty()));
    insert(&mut client, b"jonas").void();
    let page = browser.get("/double").body;
    assert!(page.contains("<td class=\"number\">2</td><td class=\"number\">1</td>"), "{page}");
    assert!(page.contains("<th scope=\"row\">insert</th><td><bdi>Keyspace1.Standard1</bdi></td>"), "{page}");
    let page = done(&mut browser, &[("action", "remove-fault"), ("name", "late")]);
    assert!(page.contains("No rule is set"), "{page}");
    let page = done(&mut browser, &[("action", "refuse")]);
    assert!(page.contains("Accept new connections"), "{page}");
    done(&mut browser, &[("action", "accept")]);
    admin.server.stop();
}

#[test]
fn the_clock_is_stopped_and_moved() {
    let admin = Admin::start(&["--control", "127.0.0.1:0"]);
    let mut browser = admin.browser();
    done(&mut browser, &[("action", "stop")]);
    done(&mut browser, &[("action", "set"), ("value", "2012-01-01T00:00:00Z")]);
    let page = done(&mut browser, &[("action", "move"), ("value", "3600.5")]);
    assert!(page.contains("<strong>2012-01-01T01:00:00.500Z</strong>, stopped"), "{page}");
    let page = done(&mut browser, &[("action", "follow")]);
    assert!(page.contains("as the system&#39;s clock") || page.contains("as the system's clock"), "{page}");
    admin.server.stop();
}

#[test]
fn wrong_forms_are_refused_and_shown_again() {
    let admin = Admin::start(&["--control", "127.0.0.1:0"]);
    let mut browser = admin.browser();
    for (fields, status) in [
        (&[("action", "restore"), ("name", "\"><b>")][..], 404),
        (&[("action", "take"), ("name", "\"><b>")], 400),
        (&[("action", "fault"), ("name", "x")], 400),
        (&[("action", "fault"), ("name", "x"), ("delay_ms", "\"><b>")], 400),
        (&[("action", "set"), ("value", "\"><b>")], 400),
        (&[("action", "reset"), ("what", "\"><b>")], 400),
        (&[("action", "\"><b>")], 400),
        (&[], 400),
    ] {
        let page = send(&mut browser, fields);
        assert_eq!(page.status, status, "{fields:?}: {}", page.body);
        assert!(page.body.contains("role=\"alert\"") && !page.body.contains("\"><b>"), "{}", page.body);
    }
    assert_eq!(browser.post("/double", &[("action", "reset"), ("what", "everything")]).status, 403);
    // The page has random digits in hex, which can form words.
    let page = browser.get("/double?done=%3Cb%3Exyzzy");
    assert!(!page.body.contains("xyzzy"), "{}", page.body);
    admin.server.stop();
}

#[test]
fn only_servers_for_tests_have_the_page() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let page = browser.get("/double");
    assert_eq!((page.status, page.header("content-type")), (404, Some("text/html; charset=utf-8")));
    let how = "start it with --ephemeral --control HOST:PORT";
    for part in [how, "<h1>Test double</h1>", "<h2>Faults</h2>", "thriftstore serve --ephemeral --control"] {
        assert!(page.body.contains(part), "{part} is missing in {}", page.body);
    }
    let text = browser.send("GET", "/double", "", "");
    assert_eq!((text.status, text.header("content-type")), (404, Some("text/plain; charset=utf-8")));
    assert!(text.body.ends_with(&format!("{how}\n")), "{}", text.body);
    assert!(!browser.get("/").body.contains("/double"));
    let admin = {
        admin.server.stop();
        Admin::start(&["--control", "127.0.0.1:0"])
    };
    assert!(admin.browser().get("/").body.contains("<a href=\"/double\">Test double</a>"));
    admin.server.stop();
}
