//! Who gets in: nobody, the token, users of the server, superusers.

use std::fs;

use super::{Admin, Browser, TOKEN};
use crate::support;
use support::client::Style;
use support::server::{Server, storage_conf};
use support::value::{Value, fields, map, text};
use wire::thrift::TType;

const USERS: &str = "<Authenticator>org.apache.cassandra.auth.PasswordAuthenticator</Authenticator>
     <Authorizer>CassandraAuthorizer</Authorizer>";

/// What each visitor gets from each route: nobody, a user without rights, a user who may read the table `club.posts`, a
/// superuser, and the token.
const ROUTES: [(&str, &str, [u16; 5]); 45] = [
    ("GET", "/", [303, 200, 200, 200, 200]),
    ("GET", "/status", [303, 200, 200, 200, 200]),
    ("GET", "/log-requests", [303, 200, 200, 200, 200]),
    ("POST", "/log-requests", [401, 403, 403, 200, 200]),
    ("GET", "/verify", [303, 403, 403, 200, 200]),
    ("POST", "/verify", [401, 403, 403, 404, 404]),
    ("GET", "/metrics", [303, 200, 200, 200, 200]),
    ("GET", "/control/requests", [303, 403, 403, 200, 200]),
    ("POST", "/control/reset", [401, 403, 403, 200, 200]),
    ("GET", "/ask", [303, 200, 200, 200, 200]),
    ("GET", "/ask?cql=SELECT%20*%20FROM%20%22Keyspace1%22.%22Standard1%22", [303, 403, 403, 200, 200]),
    ("GET", "/ask?cql=TRUNCATE%20%22Keyspace1%22.%22Standard1%22", [303, 400, 400, 400, 400]),
    ("GET", "/ask?with=thrift&keyspace=Keyspace1&family=Standard1&keys=a", [303, 403, 403, 200, 200]),
    ("GET", "/ask.csv?cql=SELECT%20*%20FROM%20club.posts", [303, 403, 200, 200, 200]),
    ("GET", "/ask.json?cql=SELECT%20*%20FROM%20club.posts", [303, 403, 200, 200, 200]),
    ("POST", "/ask?", [401, 403, 403, 200, 200]),
    ("GET", "/change", [303, 200, 200, 200, 200]),
    ("POST", "/change", [401, 403, 403, 200, 200]),
    ("PUT", "/change", [401, 405, 405, 405, 405]),
    ("GET", "/ask?cql=SELECT%20*%20FROM%20club.posts", [303, 403, 200, 200, 200]),
    ("GET", "/keyspaces", [303, 200, 200, 200, 200]),
    ("GET", "/keyspaces/club", [303, 403, 200, 200, 200]),
    ("GET", "/keyspaces/BloggyAppy", [303, 403, 403, 200, 200]),
    ("GET", "/rows?keyspace=club&family=posts", [303, 403, 200, 200, 200]),
    ("GET", "/rows?keyspace=club&family=posts&key=austen", [303, 403, 200, 200, 200]),
    ("GET", "/rows?keyspace=BloggyAppy&family=Authors", [303, 403, 403, 200, 200]),
    ("GET", "/rows.json?keyspace=club&family=posts&key=austen", [303, 403, 200, 200, 200]),
    ("GET", "/rows.json?keyspace=BloggyAppy&family=Authors&key=a", [303, 403, 403, 200, 200]),
    ("GET", "/cell?keyspace=club&family=posts&key=austen&name=none", [303, 403, 404, 404, 404]),
    ("POST", "/rows", [401, 403, 403, 200, 200]),
    ("POST", "/rows.json", [401, 403, 403, 200, 200]),
    ("POST", "/cell", [401, 403, 403, 404, 404]),
    ("GET", "/charts", [303, 200, 200, 200, 200]),
    ("GET", "/live", [303, 403, 403, 200, 200]),
    ("GET", "/cluster", [303, 404, 404, 404, 404]),
    ("GET", "/double", [303, 403, 403, 200, 200]),
    ("POST", "/double", [401, 403, 403, 400, 400]),
    ("GET", "/model?example=posts", [303, 200, 200, 200, 200]),
    ("POST", "/model", [401, 200, 200, 200, 200]),
    ("POST", "/model/file", [401, 400, 400, 400, 400]),
    ("GET", "/nothing", [303, 404, 404, 404, 404]),
    ("POST", "/", [401, 405, 405, 405, 405]),
    ("GET", "/health", [200, 200, 200, 200, 200]),
    ("GET", "/login", [200, 200, 200, 200, 200]),
    ("GET", "/static/style.css", [200, 200, 200, 200, 200]),
];

/// Runs a statement as the first superuser.
pub fn cql(admin: &Admin, statement: &str) {
    let mut client = admin.server.client(Style::FRAMED);
    let credentials =
        map(TType::String, vec![("username", text("cassandra")), ("password", text("cassandra"))]);
    client.call("login", &fields([(1, fields([(1, credentials)]))])).void();
    let query = fields([(1, text(statement)), (2, Value::I32(2)), (3, Value::I32(1))]);
    client.call("execute_cql3_query", &query).value();
}

pub fn guarded() -> Admin {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("token");
    fs::write(&file, TOKEN).unwrap();
    let more = ["--control", "127.0.0.1:0", "--admin-token-file", file.to_str().unwrap()];
    let admin = Admin::with(USERS, &more);
    for statement in [
        "CREATE USER anna WITH PASSWORD 'of anna' NOSUPERUSER",
        "CREATE USER rita WITH PASSWORD 'of rita' NOSUPERUSER",
        "CREATE KEYSPACE club WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE club.posts (author text PRIMARY KEY, title text) WITH COMPACT STORAGE",
        "CREATE TABLE club.secrets (name text PRIMARY KEY)",
        "INSERT INTO club.posts (author, title) VALUES ('austen', 'Emma')",
        "GRANT SELECT ON club.posts TO rita",
    ] {
        cql(&admin, statement);
    }
    admin
}

pub fn user(admin: &Admin, name: &str, password: &str) -> Browser {
    let mut browser = admin.browser();
    let page = browser.log_in(&[("user", name), ("password", password)]);
    assert_eq!((page.status, page.header("location")), (303, Some("/")), "{}", page.body);
    browser
}

#[test]
fn each_route_checks_who_asks() {
    let admin = guarded();
    let visitors = [
        admin.browser(),
        user(&admin, "anna", "of anna"),
        user(&admin, "rita", "of rita"),
        user(&admin, "cassandra", "cassandra"),
        admin.with_token(TOKEN),
    ];
    for (at, mut visitor) in visitors.into_iter().enumerate() {
        for (method, path, expected) in ROUTES {
            let csrf = match visitor.get("/") {
                page if page.status == 200 => format!("X-CSRF-Token: {}\r\n", page.csrf()),
                _ => String::new(),
            };
            let body = match path {
                "/control/reset" => r#"{"what": "data"}"#,
                "/log-requests" => "mode=off",
                "/ask?" => "cql=TRUNCATE%20%22Keyspace1%22.%22Standard1%22",
                "/change" => "keyspace=Keyspace1&family=Standard1&key=a&column=b&value=c",
                "/rows" | "/rows.json" | "/cell" => "keyspace=BloggyAppy&family=Authors&key=a&name=b",
                _ => "",
            };
            let csrf = format!("{csrf}Content-Type: application/x-www-form-urlencoded\r\n");
            let page = visitor.send(method, path, &format!("Accept: text/html\r\n{csrf}"), body);
            assert_eq!(page.status, expected[at], "visitor {at}, {method} {path}: {}", page.body);
        }
    }
    // The stream of requests ends only with its connection, so those who may open it do not here.
    assert_eq!(admin.browser().get("/live/requests").status, 303);
    let mut anna = user(&admin, "anna", "of anna");
    assert_eq!(anna.get("/live/requests").status, 403);
    let home = anna.get("/").body;
    assert!(!home.contains("/live") && !home.contains("/double"), "{home}");
    // Programs get no form.
    let page = admin.browser().send("GET", "/status", "", "");
    assert_eq!((page.status, page.header("www-authenticate")), (401, Some("Bearer")));
    admin.server.stop();
}

/// The two routes that are not in the table end the session, or do not end.
#[test]
fn the_table_of_visitors_has_each_route() {
    let tested_elsewhere = ["/logout", "/live/requests"];
    let source = include_str!("../../../crates/console/src/routes.rs");
    let mut routes = 0;
    for route in source.split(".route(\"").skip(1) {
        let (path, handlers) = route.split_once("\", ").unwrap();
        let (handlers, _) = handlers.split_once('\n').unwrap();
        let beginning = path.split('{').next().unwrap();
        for (method, handler) in [("GET", "get("), ("POST", "post("), ("POST", "any(")] {
            let is_tested = ROUTES.iter().any(|(tested, with, _)| {
                let with = with.split('?').next().unwrap();
                *tested == method
                    && if beginning == path { with == path } else { with.starts_with(beginning) }
            });
            let is_served = handlers.starts_with(handler) || handlers.contains(&format!(".{handler}"));
            let is_login = (method, path) == ("POST", "/login");
            assert!(
                !is_served || is_tested || is_login || tested_elsewhere.contains(&path),
                "{method} {path}"
            );
            routes += usize::from(is_served);
        }
    }
    assert!(routes > 20, "{routes}");
}

#[test]
fn users_see_only_what_they_may_read() {
    let admin = guarded();
    let mut rita = user(&admin, "rita", "of rita");
    let list = rita.get("/keyspaces").body;
    assert!(list.contains(">posts<") && !list.contains("secrets") && !list.contains("BloggyAppy"), "{list}");
    let club = rita.get("/keyspaces/club").body;
    assert!(club.contains("Rows of posts") && !club.contains("secrets"), "{club}");
    // What does not exist and what may not be read cannot be distinguished.
    for (there, nowhere) in [
        ("/keyspaces/BloggyAppy", "/keyspaces/Nowhere"),
        ("/rows?keyspace=club&family=secrets", "/rows?keyspace=club&family=nothing"),
    ] {
        let (there, nowhere) = (rita.get(there), rita.get(nowhere));
        assert_eq!((there.status, nowhere.status), (403, 403));
    }
    for path in ["/", "/ask?keyspace=club", "/change?keyspace=club"] {
        let page = rita.get(path).body;
        assert!(
            page.contains("club") && !page.contains("secrets") && !page.contains("BloggyAppy"),
            "{path}: {page}"
        );
    }
    let none = user(&admin, "anna", "of anna").get("/keyspaces").body;
    assert!(none.contains("There is no keyspace that you may read"), "{none}");
    admin.server.stop();
}

#[test]
fn a_wrong_token_is_refused_on_each_route() {
    let admin = guarded();
    let mut logged_in = user(&admin, "cassandra", "cassandra");
    for token in ["", "0123456789abcdeF", "0123456789abcdef0"] {
        for path in ["/", "/status", "/control/requests"] {
            assert_eq!(admin.with_token(token).get(path).status, 401, "{token} {path}");
        }
    }
    // The header counts, not the session.
    logged_in.headers = "Authorization: Bearer wrong\r\n".to_owned();
    assert_eq!(logged_in.get("/").status, 401);
    admin.server.stop();
}

#[test]
fn the_token_opens_a_session_too() {
    let admin = guarded();
    let mut browser = admin.browser();
    let wrong = browser.log_in(&[("token", "0123456789abcdeF")]);
    assert_eq!(wrong.status, 401);
    assert!(wrong.body.contains("The token is wrong."), "{}", wrong.body);
    let right = browser.log_in(&[("token", TOKEN), ("next", "/status")]);
    assert_eq!((right.status, right.header("location")), (303, Some("/status")));
    assert_eq!(browser.get("/control/requests").status, 200);
    admin.server.stop();
}

#[test]
fn a_login_begins_a_session_and_a_logout_ends_it() {
    let admin = guarded();
    let mut browser = admin.browser();
    let there = browser.get("/status?a=b");
    assert_eq!(there.header("location"), Some("/login?next=%2Fstatus%3Fa%3Db"));
    browser.get("/login");
    let before = browser.cookie.clone();
    let page = browser.log_in(&[("user", "anna"), ("password", "of anna"), ("next", "//evil.example")]);
    assert_eq!((page.status, page.header("location")), (303, Some("/")));
    assert_ne!(browser.cookie, before, "the cookie from before the login must not open the session");
    let mut earlier = Browser { cookie: before, ..admin.browser() };
    assert_eq!(earlier.get("/").status, 303);
    let home = browser.get("/");
    assert!(home.body.contains("Log out anna"), "{}", home.body);
    let mut copy = Browser { cookie: browser.cookie.clone(), ..admin.browser() };
    assert_eq!(copy.get("/").status, 200);
    let csrf = home.csrf();
    assert_eq!(browser.post("/logout", &[("csrf", &csrf)]).status, 303);
    assert_eq!((browser.get("/").status, copy.get("/").status), (303, 303));
    admin.server.stop();
}

#[test]
fn wrong_passwords_are_counted_with_those_of_clients() {
    let admin = guarded();
    let server = admin.server.expecting("are refused for");
    let admin = Admin { server, ..admin };
    let mut browser = admin.browser();
    for _ in 0..10 {
        let page = browser.log_in(&[("user", "<b>anna"), ("password", "x")]);
        assert_eq!(page.status, 401);
        assert!(page.body.contains("role=\"alert\"") && !page.body.contains("<b>anna"), "{}", page.body);
    }
    let page = browser.log_in(&[("user", "<b>anna"), ("password", "x")]);
    assert!(page.body.contains("Too many failed logins of this user"), "{}", page.body);
    // A login without the token of its form is one that another page has forged.
    let page = browser.post("/login", &[("user", "anna"), ("password", "of anna")]);
    assert_eq!(page.status, 422);
    let page = browser.post("/login", &[("user", "anna"), ("password", "of anna"), ("csrf", "0")]);
    assert_eq!(page.status, 401);
    assert_eq!(browser.get("/").status, 303);
    admin.server.stop();
}

#[test]
fn the_session_of_a_dropped_user_ends() {
    let admin = guarded();
    let mut anna = user(&admin, "anna", "of anna");
    assert_eq!(anna.get("/").status, 200);
    cql(&admin, "DROP USER anna");
    assert_eq!(anna.get("/").status, 303);
    admin.server.stop();
}

#[test]
fn other_machines_need_a_token_or_a_login() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("storage-conf.xml"), storage_conf("")).unwrap();
    let (status, log) = Server::fail(directory.path(), &["--ephemeral", "--admin", "0.0.0.0:0"]);
    assert!(!status.success());
    assert!(log.contains("--admin 0.0.0.0:0 can be reached from other machines"), "{log}");
    let server =
        Server::start(directory.path(), &storage_conf(USERS), &["--ephemeral", "--admin", "0.0.0.0:0"]);
    let server = server.expecting("the user cassandra still has its default password");
    server.expecting("cross the network unencrypted").stop();
}
