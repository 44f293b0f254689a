//! Requests that no browser sends.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use super::{Admin, exchange};
use base::compat::features::ReportedVersion;
use base::util::meter::RequestLimits;
use console::metrics::ServerReadings;
use console::{AdminAccess, AdminParts, AdminState, ConsoleSettings, Served, StatusPage, admin_service};
use double::testing::Server as InProcess;
use net::{Admission, Listener, Shutdown as ServerShutdown};
use server::thrift::Compat;
use web::{HostNames, HttpTimes};

#[test]
fn malformed_requests_get_an_error() {
    let admin = Admin::start(&[]);
    let long_head = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(200 * 1024));
    let long_path = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(70_000));
    let two_hosts = "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    for (request, expected) in [
        ("hello\r\n\r\n", "HTTP/1.1 400 "),
        ("\u{1}\0\0get\r\n\r\n", "HTTP/1.1 400 "),
        ("GET / HTTP/9.9\r\n\r\n", "HTTP/1.1 400 "),
        (&long_head, "HTTP/1.1 431 "),
        (&long_path, "HTTP/1.1 414 "),
        (two_hosts, "HTTP/1.1 421 "),
        ("GET /static/../../etc/passwd HTTP/1.0\r\n\r\n", "HTTP/1.0 404 "),
        ("GET /static/%2e%2e%2fmod.rs HTTP/1.0\r\n\r\n", "HTTP/1.0 404 "),
        ("GET /static/%ff HTTP/1.0\r\n\r\n", "HTTP/1.0 400 "),
        ("TRACE / HTTP/1.0\r\n\r\n", "HTTP/1.0 403 "),
        ("PUT /control/%0a HTTP/1.0\r\n\r\n", "HTTP/1.0 403 "),
        ("GET /login?next=%ff%00 HTTP/1.0\r\n\r\n", "HTTP/1.0 303 "),
    ] {
        let answer = exchange(admin.address, request.as_bytes());
        assert!(answer.starts_with(expected), "{}: {answer}", &request[..request.len().min(60)]);
    }
    admin.server.stop();
}

#[test]
fn long_forms_are_refused() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let csrf = browser.get("/").csrf();
    let long = "a".repeat(1024 * 1024);
    assert_eq!(browser.post("/logout", &[("csrf", &csrf), ("more", &long)]).status, 413);
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    for body in ["csrf", "csrf=%", "csrf=%ff", "csrf[]=1", "&&&", ""] {
        assert_eq!(browser.send("POST", "/logout", form, body).status, 403, "{body}");
    }
    admin.server.stop();
}

#[test]
fn silent_clients_do_not_keep_others_out() {
    let admin = Admin::start(&[]);
    let half = || {
        let mut stream = TcpStream::connect(admin.address).unwrap();
        stream
            .write_all(b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\ncsrf")
            .unwrap();
        stream
    };
    let silent: Vec<TcpStream> = (0..80).map(|_| TcpStream::connect(admin.address).unwrap()).collect();
    let slow: Vec<TcpStream> = (0..80).map(|_| half()).collect();
    let mut browser = admin.browser();
    assert_eq!(browser.get("/health").status, 200);
    assert_eq!(browser.get("/").status, 200);
    drop((silent, slow));
    let mut closed = TcpStream::connect(admin.address).unwrap();
    closed.write_all(b"GET /health HTTP/1.0\r\n\r\n").unwrap();
    closed.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    closed.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.0 200 "), "{answer}");
    admin.server.stop();
}

#[test]
fn slow_and_silent_browsers_have_time_limits() {
    let server = InProcess::start().unwrap();
    let database = server.control().database().clone();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let shutdown = ServerShutdown::new();
    let signal = shutdown.signal().unwrap();
    let short = Duration::from_millis(100);
    let address = runtime.block_on(async {
        let admission = Admission::new(signal.clone());
        let state = AdminState::new(AdminParts {
            status: StatusPage::new(database.clone(), "here"),
            database,
            access: AdminAccess::default(),
            served: Served {
                thrift: ([127, 0, 0, 1], 9160).into(),
                native: None,
                status: None,
                control: None,
                admin: None,
                is_encrypted: false,
                compat: Compat::default(),
                reported: ReportedVersion::default(),
            },
            control: None,
            server: ServerReadings::new(admission, RequestLimits::default().memory),
            console: ConsoleSettings::default(),
        });
        let times = HttpTimes { head: short, request: short };
        let service = admin_service(&Arc::new(state), HostNames::new("--admin-host", None), times);
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address;
        listener.start(service, Admission::for_admin(signal));
        address
    });
    // A body that does not arrive, a head that does not arrive, and silence after a reply.
    let slow = "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n\
                Content-Length: 9\r\n\r\ncsrf";
    let answer = exchange(address, slow.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(!exchange(address, b"GET / HTTP/1.1\r\n").starts_with("HTTP/1.1 2"));
    assert!(
        exchange(address, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 200 ")
    );
}
