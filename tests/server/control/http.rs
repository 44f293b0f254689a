//! The control API over HTTP: the document, errors, the token.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use double::control::{ControlClient, control_service};
use double::testing::Server as InProcess;
use net::{Admission, Listener, Shutdown};
use serde_json::Value as Json;
use web::{HostNames, HttpTimes};

use super::{Double, refused};
use crate::support;
use support::client::PATIENCE;
use support::server::Server;

/// Checks that a value is as its schema describes it, as far as this API needs it.
fn check(schema: &Json, value: &Json, document: &Json) {
    if let Some(reference) = schema["$ref"].as_str() {
        let place = reference.strip_prefix('#').unwrap();
        return check(document.pointer(place).unwrap(), value, document);
    }
    let is_of = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        other => panic!("no check for {other}"),
    };
    if let Some(kind) = schema["type"].as_str() {
        assert!(is_of(kind), "{value} is no {kind}");
    }
    if let Some(fields) = schema["properties"].as_object() {
        for name in schema["required"].as_array().into_iter().flatten() {
            assert!(value.get(name.as_str().unwrap()).is_some(), "{value} has no {name}");
        }
        for (name, inner) in value.as_object().unwrap() {
            check(fields.get(name).unwrap_or_else(|| panic!("{name} is not described")), inner, document);
        }
    }
    if let Some(items) = schema.get("items") {
        value.as_array().unwrap().iter().for_each(|item| check(items, item, document));
    }
    if let Some(variants) = schema["oneOf"].as_array() {
        assert!(variants.iter().any(|variant| &variant["const"] == value), "{value} is no variant");
    }
}

#[test]
fn each_route_answers_as_the_document_declares() {
    let double = Double::start();
    let mut control = double.client();
    let document = super::done(&mut control, "GET", "/openapi.json", "");
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
    // Snapshots are taken before they are restored, and deleted at the end.
    let mut calls = BTreeMap::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let order = ["put", "post", "get", "delete"].iter().position(|known| known == method).unwrap();
            calls.insert((order, method.to_ascii_uppercase(), path.clone()), operation.clone());
        }
    }
    assert!(calls.len() >= 8);
    for ((_, method, path), operation) in calls {
        assert!(operation["summary"].is_string(), "{method} {path}");
        assert_eq!(operation["parameters"].is_array(), path.contains("{name}"), "{method} {path}");
        let path = path.replace("{name}", "a");
        let kinds = operation["requestBody"]["content"].as_object();
        let bodies: Vec<(String, String)> = match kinds {
            None => vec![(String::new(), String::new())],
            Some(kinds) => kinds.iter().map(|(kind, body)| (kind.clone(), example(body))).collect(),
        };
        for (kind, body) in bodies {
            let mut control = double.client();
            if !kind.is_empty() {
                control = control.with_header("Content-Type", &kind);
            }
            // Streams have no end.
            if let Some(schema) = operation["responses"]["200"]["content"].get("application/json") {
                let reply = super::done(&mut control, &method, &path, &body);
                check(&schema["schema"], &reply, &document);
            }
            let failed = control.send(&method, &path, b"\0").unwrap();
            assert_eq!(failed.status, 400, "{method} {path}: {}", failed.body);
            let schema = &operation["responses"]["default"]["content"]["application/json"]["schema"];
            check(schema, &serde_json::from_str(&failed.body).unwrap(), &document);
        }
    }
    double.server.stop();
}

/// Returns the example of a body.
fn example(body: &Json) -> String {
    match &body["example"] {
        Json::String(text) => text.clone(),
        other => {
            assert!(other.is_object(), "{body} has no example");
            other.to_string()
        }
    }
}

#[test]
fn errors_have_a_status_and_a_sentence() {
    let double = Double::start();
    let mut control = double.client();
    let (status, error) = refused(&mut control, "GET", "/nothing", "");
    assert_eq!(
        (status, &*error),
        (404, "there is no path \"/nothing\": GET /openapi.json lists all of them")
    );
    for path in ["/", "//", "/snapshots/", "/snapshots/a/b", "/reset/", "/Reset"] {
        assert_eq!(refused(&mut control, "GET", path, "").0, 404, "{path}");
    }
    let reply = control.send("DELETE", "/clock", b"").unwrap();
    assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, POST")));
    assert_eq!(reply.body, "{\"error\":\"/clock has no DELETE: use GET, POST\"}\n");
    let (status, error) = refused(&mut control, "PUT", "/snapshots/a", "{}");
    assert_eq!((status, &*error), (400, "this request has no body: remove it"));
    let mut from_page = double.client().with_header("Origin", "http://localhost:8000");
    let (status, error) = refused(&mut from_page, "POST", "/reset", r#"{"what": "data"}"#);
    assert_eq!(
        (status, error.starts_with("a web page must not control this server")),
        (403, true),
        "{error}"
    );

    // A body that is announced as too long is not read.
    let mut stream = TcpStream::connect(double.control).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head =
        "POST /reset HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000000\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 413");

    // More idle clients than places: the oldest are closed.
    let idle: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(double.control).unwrap()).collect();
    double.send("GET", "/clock", "");
    drop(idle);
    double.server.stop();
}

#[test]
fn names_in_paths_are_decoded() {
    let double = Double::start();
    let mut control = double.client();
    let taken = super::done(&mut control, "PUT", "/snapshots/a%2Db", "");
    assert_eq!(taken["name"], "a-b");
    assert_eq!(super::done(&mut control, "DELETE", "/snapshots/a-b", "")["deleted"], "a-b");
    super::done(&mut control, "PUT", "/sandboxes/c%2Dd", "{}");
    let clock = super::done(&mut control, "GET", "/sandboxes/c-d/clock", "");
    assert_eq!(super::done(&mut control, "GET", "/sandboxes/c%2Dd/clock", "")["frozen"], clock["frozen"]);
    for path in ["/snapshots/%FF", "/snapshots/a%FFb", "/sandboxes/%FF"] {
        let (status, error) = refused(&mut control, "PUT", path, "");
        assert_eq!(
            (status, &*error),
            (
                400,
                "a name in the path is not UTF-8: use letters, digits, hyphens, underscores and full stops"
            ),
            "{path}"
        );
    }
    // An encoded slash does not divide the path, and a name has none.
    let (status, error) = refused(&mut control, "PUT", "/snapshots/a%2Fb", "");
    assert!(status == 400 && error.starts_with("a snapshot's name has "), "{error}");
    double.server.stop();
}

#[test]
fn the_control_port_requires_its_token() {
    let directory = tempfile::tempdir().unwrap();
    let token = "0123456789abcdef-0123456789";
    fs::write(directory.path().join("token"), format!("{token}\n")).unwrap();
    let options = ["--ephemeral", "--control", "0.0.0.0:0", "--control-token-file", "token"];
    let mut server = Server::start(directory.path(), &support::server::storage_conf(""), &options);
    let address = format!("127.0.0.1:{}", server.native_and_control_address().1.port());
    let with = |token: Option<&str>| ControlClient::connect(&address, token).unwrap();
    for wrong in [None, Some("0123456789abcdef-012345678x")] {
        for path in ["/clock", "/nothing"] {
            let reply = with(wrong).send("GET", path, b"").unwrap();
            assert_eq!((reply.status, reply.header("www-authenticate")), (401, Some("Bearer")));
        }
    }
    assert_eq!(with(Some(token)).send("GET", "/clock", b"").unwrap().status, 200);
    server.stop();
}

#[test]
fn only_a_server_in_memory_has_a_control_port() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("storage-conf.xml"), support::server::storage_conf("")).unwrap();
    let cases: [(&[&str], &str); 4] = [
        (
            &["--control", "127.0.0.1:0"],
            "only a server in memory can do that: add --ephemeral, or remove --control",
        ),
        (&["--control", "127.0.0.1:0", "--data-dir", "d"], "add --ephemeral"),
        (
            &["--ephemeral", "--control", "0.0.0.0:0"],
            "--control 0.0.0.0:0 can be reached from other machines",
        ),
        (&["--ephemeral", "--control-token-file", "t"], "--control"),
    ];
    for (more, why) in cases {
        let (status, output) = Server::fail(directory.path(), more);
        assert!(!status.success() && output.contains(why), "{more:?}: {output}");
    }
    assert!(!directory.path().join("data").exists() && !directory.path().join("d").exists());
}

#[test]
fn slow_and_silent_clients_have_time_limits() {
    let server = InProcess::start().unwrap();
    let times = HttpTimes { head: Duration::from_millis(100), request: Duration::from_millis(200) };
    let service = control_service(server.control(), None, HostNames::new("--control-host", None), times);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let shutdown = Shutdown::new();
    let admission = Admission::for_control(shutdown.signal().unwrap());
    let address = runtime.block_on(async {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address;
        listener.start(service, admission);
        address
    });
    let connect = || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    };
    let mut slow = connect();
    slow.write_all(b"POST /reset HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16\r\n\r\n{").unwrap();
    let mut reply = String::new();
    slow.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 503 "), "{reply}");
    assert!(
        reply.contains("{\"error\":\"the request was not done after 0.2 seconds: it was stopped\"}"),
        "{reply}"
    );
    let mut silent = connect();
    let mut reply = String::new();
    silent.read_to_string(&mut reply).unwrap();
    let mut pausing = connect();
    pausing.write_all(b"GET /clock HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut reply = String::new();
    pausing.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
    assert!(runtime.block_on(shutdown.end(PATIENCE)), "the port did not close");
}
