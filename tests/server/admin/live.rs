//! `/live`: requests as they come, slow ones, connections and errors.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::{Admin, Browser, exchange};
use crate::support;
use support::calls::{ONE, get_args, insert_args, path};
use support::client::{Client, PATIENCE, Style};
use support::native::NativeClient;
use support::native::opcode::QUERY;
use support::native_body::{Asked, Body};
use support::value::fields;

/// The events of a stream.
struct Events(BufReader<TcpStream>);

impl Events {
    fn open(admin: &Admin, query: &str) -> Events {
        let mut stream = TcpStream::connect(admin.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!("GET /live/requests{query} HTTP/1.0\r\nHost: {}\r\n\r\n", admin.address);
        stream.write_all(head.as_bytes()).unwrap();
        let mut events = Events(BufReader::new(stream));
        assert!(events.line().starts_with("HTTP/1.0 200"));
        let head: Vec<String> =
            std::iter::repeat_with(|| events.line()).take_while(|line| !line.is_empty()).collect();
        let kind = head.iter().find(|line| line.to_lowercase().starts_with("content-type:")).unwrap();
        assert!(kind.contains("text/event-stream"), "{kind}");
        // The first event comes at once, when requests are followed.
        assert_eq!(events.line(), ":");
        events
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream has ended");
        line.trim_end().to_owned()
    }

    /// Returns the data of the next event with a name.
    fn next(&mut self, name: &str) -> String {
        let wanted = format!("event: {name}");
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if self.line() == wanted {
                return self.line().strip_prefix("data: ").unwrap().to_owned();
            }
        }
        panic!("no event {name}");
    }

    fn request(&mut self) -> Json {
        serde_json::from_str(&self.next("request")).unwrap()
    }
}

fn insert(client: &mut Client, key: &[u8]) {
    let place = path("Standard1", None, Some(b"name"));
    client.call("insert", &insert_args("Keyspace1", key, place, (b"value", 1), ONE)).void();
}

fn get(client: &mut Client, keyspace: &str, key: &[u8]) {
    client.call("get", &get_args(keyspace, key, path("Standard1", None, Some(b"name")), ONE));
}

#[test]
fn requests_arrive_as_they_end() {
    let admin = Admin::start(&[]);
    let mut all = Events::open(&admin, "");
    let mut inserts =
        Events::open(&admin, "?method=INSERT&family=standard1&client=127.0.0.1&outcome=ok&slower=0");
    let mut failed = Events::open(&admin, "?outcome=failed");
    let mut client = admin.server.client(Style::UNFRAMED);
    get(&mut client, "Nix", b"a");
    get(&mut client, "Keyspace1", b"b");
    // Bytes that cannot be printed are shown in hex.
    insert(&mut client, "<b>\n\u{202e}".as_bytes());
    let first = all.request();
    assert_eq!((&first["method"], &first["has_failed"]), (&"get".into(), &true.into()));
    let second = all.request();
    assert_eq!((&second["key"], &second["result"]), (&"b".into(), &"not found".into()));
    for request in [all.request(), inserts.request()] {
        assert_eq!(request["method"], "insert");
        assert_eq!(request["place"], "Keyspace1.Standard1");
        assert_eq!(request["key"], "3c623e0ae280ae");
        assert_eq!((&request["result"], &request["generation"]), (&"ok".into(), &"0.4 to 0.6".into()));
        assert_eq!(request["client"], "127.0.0.1");
        assert!(
            request["micros"].as_str().is_some() && request["at"].as_str().unwrap().len() == 12,
            "{request}"
        );
    }
    assert_eq!(failed.request()["key"], "a");
    admin.server.stop();
}

#[test]
fn a_busy_server_sends_a_sample_and_says_so() {
    let admin = Admin::start(&[]);
    let mut events = Events::open(&admin, "");
    let mut client = admin.server.client(Style::UNFRAMED);
    // Slow machines need several seconds for them.
    for number in 0..3000 {
        insert(&mut client, format!("{number}").as_bytes());
    }
    let left_out: u64 = events.next("left_out").parse().unwrap();
    assert!(left_out > 0 && left_out < 3000, "{left_out}");
    admin.server.stop();
}

#[test]
fn a_browser_without_scripts_waits_for_requests() {
    let admin = Admin::start(&[]);
    let page = admin.browser().get("/live");
    assert!(page.body.contains("<noscript>") && page.body.contains("No request yet."), "{}", page.body);
    let (address, mut client) = (admin.address, admin.server.client(Style::UNFRAMED));
    let watching = std::thread::spawn(move || {
        let mut browser = Browser { address, cookie: None, headers: String::new() };
        browser.get("/live?watch=1&family=standard1")
    });
    while !watching.is_finished() {
        insert(&mut client, b"watched");
        std::thread::sleep(Duration::from_millis(2));
    }
    let page = watching.join().unwrap();
    assert_eq!(page.status, 200);
    assert!(
        page.body.contains("<bdi>watched</bdi>") && page.body.contains("<td>insert</td>"),
        "{}",
        page.body
    );
    admin.server.stop();
}

#[test]
fn the_page_has_slow_requests_connections_and_errors() {
    let admin = Admin::start(&[]);
    let mut client = admin.server.client(Style::UNFRAMED);
    insert(&mut client, "<script>a\u{202e}b".as_bytes());
    get(&mut client, "No<b>", b"a");
    get(&mut client, "No<b>", b"a");
    get(&mut client, "Keyspace1", b"nothing is found, which is no error");
    let page = admin.browser().get("/live");
    assert_eq!(page.status, 200, "{}", page.body);
    let body = &page.body;
    assert!(!body.contains("<script>a") && !body.contains("No<b>"), "{body}");
    let (slow, rest) = body.split_once("id=\"errors\"").unwrap();
    assert!(slow.contains("&#60;script&#62;a\\u{202e}b"), "{slow}");
    assert!(slow.contains("<td>insert</td>") && slow.contains("Keyspace1.Standard1"), "{slow}");
    let (errors, clients) = rest.split_once("id=\"clients\"").unwrap();
    assert!(clients.contains("Thrift 0.4 to 0.6") && clients.contains("127.0.0.1"), "{clients}");
    assert!(clients.contains("<td class=\"number\">4</td>"), "{clients}");
    assert_eq!(errors.matches("<tr><td class=\"long\">").count(), 1, "{errors}");
    assert!(errors.contains("No&#60;b&#62;") && errors.contains("<td class=\"number\">2</td>"), "{errors}");
    // A connection that has ended is no longer listed.
    drop(client);
    let end = Instant::now() + PATIENCE;
    while !admin.browser().get("/live").body.contains("No client is connected.") {
        assert!(Instant::now() < end, "the connection is still listed");
        std::thread::sleep(Duration::from_millis(10));
    }
    admin.server.stop();
}

#[test]
fn statements_of_the_native_protocol_are_shown() {
    let admin = Admin::start(&[]);
    let address = admin.native_address();
    let mut events = Events::open(&admin, "?method=query");
    let mut client = NativeClient::ready(address, 4);
    client.run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.run("USE ks");
    client.send(1, QUERY, &Body::new().long_string("SELECT <b> FROM x").parameters(4, &Asked::values([])).0);
    client.receive().error();
    assert!(events.request()["key"].as_str().unwrap().starts_with("CREATE KEYSPACE ks"));
    assert_eq!(events.request()["key"], "USE ks");
    let failed = events.request();
    assert_eq!((&failed["generation"], &failed["has_failed"]), (&"native".into(), &true.into()));
    let body = admin.browser().get("/live").body;
    assert!(body.contains("CREATE KEYSPACE ks") && body.contains("CQL native protocol"), "{body}");
    assert!(body.contains("SELECT &#60;b&#62; FROM x") && !body.contains("SELECT <b>"), "{body}");
    admin.server.stop();
}

#[test]
fn wrong_filters_are_refused() {
    let admin = Admin::start(&[]);
    for path in ["/live?slower=x", "/live?outcome=good", "/live/requests?slower=-1"] {
        assert_eq!(admin.browser().get(path).status, 400, "{path}");
    }
    let page = admin.browser().get("/live?method=%22%3E%3Cb%3E");
    assert!(page.status == 200 && !page.body.contains("\"><b>"), "{}", page.body);
    admin.server.stop();
}

#[test]
fn messages_that_cannot_be_read_are_counted() {
    let admin = Admin::start(&[]);
    let native = admin.native_address();
    let mut client = admin.server.client(Style::UNFRAMED);
    for number in 0..300 {
        client.call(&format!("no_such_method_{number}"), &fields([]));
    }
    // Not Thrift at all.
    assert_eq!(exchange(admin.server.address, b"GET / HTTP/1.1\r\n\r\n"), "");
    // An unknown opcode, a statement before STARTUP, and a version that the server does not have.
    for (opcode, code) in [(0x3f, 0x0a), (QUERY, 0x0a)] {
        let mut client = NativeClient::connect(native, 4);
        client.send(1, opcode, &[]);
        client.receive().refused(code);
    }
    exchange(native, &[0x5f, 0, 0, 1, 5, 0, 0, 0, 0]);

    let body = admin.browser().get("/live").body;
    let (_, errors) = body.split_once("id=\"errors\"").unwrap();
    for text in [
        "Invalid method name: no Thrift method of the supported releases has it",
        "Unknown opcode 63",
        "Unexpected message QUERY, expecting STARTUP or OPTIONS",
    ] {
        assert!(errors.contains(text), "{text} is not in {errors}");
    }
    assert!(
        errors.contains("<td class=\"number\">300</td>") && !errors.contains("no_such_method"),
        "{errors}"
    );
    assert_eq!(errors.matches("<tr><td class=\"long\">").count(), 5, "{errors}");
    let metrics = admin.browser().get("/metrics").body;
    let unknown = |protocol: &str, count: u64| {
        let labels =
            format!("protocol=\"{protocol}\",method=\"unknown\",generation=\"\",outcome=\"protocol\"");
        let line = format!("thriftstore_requests_total{{{labels}}} {count}.0\n");
        assert!(metrics.contains(&line), "no {line} in {metrics}");
    };
    unknown("thrift", 301);
    unknown("native", 3);
    admin.server.stop();
}

#[test]
fn the_page_switches_the_log_of_requests() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let csrf = browser.get("/live").csrf();
    let switched = browser.post("/log-requests", &[("csrf", &csrf), ("page", "true"), ("mode", "slow=3ms")]);
    assert_eq!((switched.status, switched.header("location")), (303, Some("/live#log")));
    let page = browser.get("/live").body;
    assert!(
        page.contains("Logged are <code>slow=3ms</code>") && page.contains("the log of the server"),
        "{page}"
    );
    let refused = browser.post("/log-requests", &[("csrf", &csrf), ("page", "true"), ("mode", "often")]);
    assert_eq!(refused.status, 400);
    assert!(
        refused.body.contains("unknown mode") && refused.body.contains("<code>slow=3ms</code>"),
        "{}",
        refused.body
    );
    let program = browser.post("/log-requests", &[("csrf", &csrf), ("mode", "off")]);
    assert_eq!((program.status, &*program.body), (200, "off\n"));
    assert!(browser.get("/live").body.contains("No requests are logged."));
    admin.server.stop();
}
