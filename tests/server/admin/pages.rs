//! What replies have, on a server without logins.

use std::time::{Duration, Instant};

use super::{Admin, Browser, exchange};
use crate::support;
use support::calls::{ONE, get_args, insert_args, path};
use support::client::{PATIENCE, Style};

#[test]
fn each_reply_has_the_security_headers() {
    let admin = Admin::start(&["--control", "127.0.0.1:0"]);
    let mut browser = admin.browser();
    for (path, status) in [
        ("/", 200),
        ("/status", 200),
        ("/keyspaces", 200),
        ("/metrics", 200),
        ("/health", 200),
        ("/login", 303),
        ("/static/style.css", 200),
        ("/static/nothing", 404),
        ("/control/openapi.json", 200),
        ("/nothing", 404),
    ] {
        let page = browser.get(path);
        assert_eq!(page.status, status, "{path}: {}", page.body);
        let policy = page.header("content-security-policy").unwrap();
        for part in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"]
        {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{path}: {policy}");
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(page.header("referrer-policy"), Some("same-origin"), "{path}");
        assert_eq!(page.header("x-frame-options"), Some("DENY"), "{path}");
        let stored = if path.ends_with("style.css") { "no-cache" } else { "no-store" };
        assert_eq!(page.header("cache-control"), Some(stored), "{path}");
    }
    admin.server.stop();
}

#[test]
fn pages_load_nothing_from_elsewhere() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    for path in [
        "/",
        "/keyspaces",
        "/keyspaces/BloggyAppy",
        "/rows?keyspace=BloggyAppy&family=Authors",
        "/rows?keyspace=BloggyAppy&family=Authors&key=a",
        "/static/style.css",
        "/static/console.js",
        "/static/rows.css",
        "/static/rows.js",
        "/live",
        "/static/live.js",
        "/static/live.css",
        "/static/home.css",
        "/static/charts.css",
        "/static/charts.js",
        "/static/results.js",
        "/static/choices.js",
        "/charts",
        "/ask",
        "/model",
    ] {
        let page = browser.get(path);
        assert_eq!(page.status, 200, "{path}");
        for foreign in
            ["http:", "https:", "src=\"//", "href=\"//", "@import", "<script>", "style=\"", "onclick"]
        {
            assert!(!page.body.contains(foreign), "{path} has {foreign}");
        }
    }
    admin.server.stop();
}

#[test]
fn the_home_page_has_what_the_status_page_has() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let (home, status) = (browser.get("/"), browser.get("/status"));
    assert_eq!(home.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(status.header("content-type"), Some("text/plain; charset=utf-8"));
    assert!(
        status.body.contains("health: ok\n") && status.body.contains("data: in memory"),
        "{}",
        status.body
    );
    for line in status.body.lines() {
        let (name, value) = line.split_once(": ").unwrap();
        let is_there = home.body.contains(&format!("<dt>{name}</dt>"));
        if ["health", "bytes on the disk"].contains(&name) {
            assert!(!is_there, "{name} is twice in {}", home.body);
            continue;
        }
        assert!(is_there, "{name} is missing in {}", home.body);
        assert!(name == "seconds up" || home.body.contains(&format!("<dd>{value}</dd>")), "{value}");
    }
    for once in ["The server answers all requests.", "<dt>On the disk</dt>"] {
        assert_eq!(home.body.matches(once).count(), 1, "{once}");
    }
    assert_eq!(browser.get("/health").body, "ok\n");
    admin.server.stop();
}

#[test]
fn people_see_errors_in_a_page_and_programs_as_text() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    for (path, why) in [
        ("/nowhere", "there is no path &#34;/nowhere&#34;: GET / leads to all pages"),
        ("/keyspaces/BlogyAppy", "there is no keyspace &#34;BlogyAppy&#34;; did you mean BloggyAppy?"),
        (
            "/rows?keyspace=BloggyAppy&family=Autors",
            "keyspace BloggyAppy has no column family &#34;Autors&#34;; did you mean Authors?",
        ),
    ] {
        let page = browser.get(path);
        assert_eq!((page.status, page.header("content-type")), (404, Some("text/html; charset=utf-8")));
        for part in ["<h1>Not Found</h1>", "<nav aria-label=\"Pages\">", &format!("role=\"alert\">{why}</p>")]
        {
            assert!(page.body.contains(part), "{part} is missing in {}", page.body);
        }
        let text = browser.send("GET", path, "", "");
        assert_eq!((text.status, text.header("content-type")), (404, Some("text/plain; charset=utf-8")));
        assert_eq!(text.body, format!("{}\n", why.replace("&#34;", "\"")));
    }
    admin.server.stop();
}

/// Returns the side bar of a page.
fn side_bar(page: &str) -> &str {
    let (_, rest) = page.split_once("aria-label=\"Keyspaces\"").unwrap();
    rest.split("</nav>").next().unwrap()
}

#[test]
fn the_side_bar_marks_the_place_of_the_page() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let mut marked = |path: &str| {
        let page = browser.get(path);
        assert_eq!(page.status, 200, "{}", page.body);
        let bar = side_bar(&page.body).to_owned();
        assert!(bar.contains("<bdi>Keyspace1</bdi>") && bar.contains("<bdi>Authors</bdi>"), "{bar}");
        assert!(!bar.contains("system"), "{bar}");
        let marks: Vec<_> = bar.split("aria-current=\"").skip(1).map(str::to_owned).collect();
        let opened = bar.matches(" open>").count();
        (
            opened,
            marks.into_iter().map(|mark| mark.split("</").next().unwrap().to_owned()).collect::<Vec<_>>(),
        )
    };
    assert_eq!(marked("/ask").1, Vec::<String>::new());
    assert_eq!(marked("/keyspaces/BloggyAppy"), (1, vec!["page\">Definition".to_owned()]));
    let family = "/rows?keyspace=BloggyAppy&family=Authors";
    assert_eq!(marked(family), (1, vec!["page\"><bdi>Authors".to_owned()]));
    assert_eq!(marked(&format!("{family}&key=a")), (1, vec!["true\"><bdi>Authors".to_owned()]));
    admin.server.stop();
}

#[test]
fn the_home_page_has_charts_sizes_and_past_requests() {
    let admin = Admin::start(&[]);
    let mut client = admin.server.client(Style::UNFRAMED);
    for key in [b"one", b"two"] {
        let place = path("Standard1", None, Some(b"name"));
        client.call("insert", &insert_args("Keyspace1", key, place, (b"value", 1), ONE)).void();
    }
    client.call("get", &get_args("No<b>", b"a", path("Standard1", None, Some(b"a")), ONE));
    let mut browser = admin.browser();
    let home = browser.get("/").body;
    for part in
        ["2 rows, 24 bytes", "Standard2</bdi></a> <span class=\"quiet\">empty</span>", "No&#60;b&#62;"]
    {
        assert!(home.contains(part), "{part} is missing in {home}");
    }
    assert!(home.contains("Keyspace1") && home.contains("insert <bdi>Standard1</bdi>"), "{home}");
    // A sample follows within seconds, and the charts have it.
    let end = Instant::now() + PATIENCE;
    let has_points = |charts: &str| charts.contains("points=\"") && charts.contains("<li class=\"line1\">");
    loop {
        let page = browser.get("/charts?of=details");
        assert_eq!(page.status, 200);
        if has_points(&page.body) {
            break;
        }
        assert!(Instant::now() < end, "no chart has points: {}", page.body);
        std::thread::sleep(Duration::from_millis(50));
    }
    admin.server.stop();
}

#[test]
fn an_empty_column_family_says_how_to_put_something_in() {
    let path = "/rows?keyspace=BloggyAppy&family=Authors";
    for (changes, part) in [
        ("on", "<a href=\"/change?keyspace=BloggyAppy&amp;family=Authors\">Insert a column</a>"),
        ("off", "<code>--admin-changes on</code>"),
    ] {
        let admin = Admin::start(&["--admin-changes", changes]);
        let page = admin.browser().get(path).body;
        assert!(page.contains("There are no rows. ") && page.contains(part), "{page}");
        assert!(page.contains("<a href=\"/#connect\">how to connect</a>"), "{page}");
        assert!(page.contains("set Authors[&#39;key&#39;][&#39;column&#39;] = &#39;value&#39;;"), "{page}");
        admin.server.stop();
    }
}

#[test]
fn the_home_page_has_keyspaces_addresses_and_programs_that_connect() {
    let admin = Admin::start(&["--compat", "0.5"]);
    let home = admin.browser().get("/").body;
    let (host, port) = (admin.server.address.ip(), admin.server.address.port());
    for part in [
        "<a href=\"/keyspaces/Keyspace1\"><bdi>Keyspace1</bdi></a>".to_owned(),
        format!("<dt>Thrift</dt>\n<dd>{host}:{port}</dd>"),
        format!("<dt>Admin server</dt>\n<dd>{}</dd>", admin.address),
        "<dt>Thrift calls with a keyspace argument</dt>\n<dd>0.5</dd>".to_owned(),
        format!("TSocket(&#34;{host}&#34;, {port})"),
        format!("server_list=[&#34;{host}:{port}&#34;]"),
        format!("CassandraHostConfigurator(&#34;{host}:{port}&#34;)"),
        "<dt>Memtables</dt>".to_owned(),
        "<dt>Requests</dt>\n<dd>0</dd>".to_owned(),
    ] {
        assert!(home.contains(&part), "{part} is missing in {home}");
    }
    assert!(!home.contains("PASSWORD") && !home.contains("ca.pem"), "{home}");
    admin.server.stop();
}

#[test]
fn a_browser_keeps_files_that_have_not_changed() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let file = browser.get("/static/style.css");
    let tag = file.header("etag").unwrap().to_owned();
    let again = browser.send("GET", "/static/style.css", &format!("If-None-Match: {tag}\r\n"), "");
    assert_eq!((again.status, &*again.body), (304, ""));
    let other = browser.send("GET", "/static/style.css", "If-None-Match: \"other\"\r\n", "");
    assert_eq!((other.status, &other.body), (200, &file.body));
    admin.server.stop();
}

#[test]
fn a_request_must_name_this_server() {
    let admin = Admin::start(&["--admin-host", "Store.example"]);
    let port = admin.address.port();
    let mut browser = admin.browser();
    let mut status_of = |host: &str| browser.send("GET", "/", &format!("Host: {host}\r\n"), "").status;
    for own in ["127.0.0.1", "localhost", "[::1]", "store.example", "10.0.0.1"] {
        assert_eq!(status_of(&format!("{own}:{port}")), 200, "{own}");
    }
    for foreign in ["evil.example", "localhost.evil.example", "x.store.example"] {
        assert_eq!(status_of(&format!("{foreign}:{port}")), 421, "{foreign}");
    }
    assert!(exchange(admin.address, b"GET /health HTTP/1.0\r\n\r\n").starts_with("HTTP/1.0 200 "));
    admin.server.stop();
}

/// The body of a reset.
const DATA: &str = r#"{"what": "data"}"#;

/// Returns the header with the CSRF token of the home page.
fn csrf_header(browser: &mut Browser) -> String {
    format!("X-CSRF-Token: {}\r\n", browser.get("/").csrf())
}

#[test]
fn changes_need_the_token_of_their_page() {
    let admin = Admin::start(&["--control", "127.0.0.1:0"]);
    let mut browser = admin.browser();
    let own = csrf_header(&mut browser);
    let reset =
        |browser: &mut Browser, headers: &str| browser.send("POST", "/control/reset", headers, DATA).status;
    assert_eq!(reset(&mut browser, &own), 200);
    let origin = format!("Origin: http://{}\r\n", admin.address);
    assert_eq!(reset(&mut browser, &format!("{own}{origin}")), 200);
    assert_eq!(reset(&mut browser, ""), 403);
    assert_eq!(reset(&mut browser, "X-CSRF-Token: 0\r\n"), 403);
    assert_eq!(reset(&mut browser, &format!("{own}Origin: http://evil.example\r\n")), 403);
    assert_eq!(reset(&mut browser, &format!("{own}Origin: null\r\n")), 403);
    assert_eq!(reset(&mut browser, &format!("{own}Sec-Fetch-Site: cross-site\r\n")), 403);
    // A token belongs to a cookie.
    let mut other = admin.browser();
    assert_eq!(reset(&mut other, &own), 403);
    other.get("/");
    assert_eq!(reset(&mut other, &own), 403);
    // Another page knows no token, and its requests have no cookie.
    assert_eq!(admin.browser().post("/logout", &[]).status, 403);
    let csrf = browser.get("/").csrf();
    let page = browser.post("/logout", &[("csrf", &csrf)]);
    assert_eq!((page.status, &*page.body), (400, "nobody has logged in here\n"));
    admin.server.stop();
}

#[test]
fn the_control_api_is_served_with_its_port_only() {
    let admin = Admin::start(&[]);
    let page = admin.browser().get("/control/openapi.json");
    assert_eq!(page.status, 404);
    assert!(page.body.contains("--control HOST:PORT"), "{}", page.body);
    admin.server.stop();
}

#[test]
fn unreadable_parameters_get_a_sentence() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let csrf = csrf_header(&mut browser);
    let mut refusal = |method: &str, path: &str, headers: &str, body: &str| {
        let page = browser.send(method, path, &format!("{csrf}{headers}"), body);
        (page.status, page.body)
    };
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let missing = "the form cannot be read: missing field `mode`\n";
    assert_eq!(refusal("POST", "/log-requests", form, "x=1"), (422, missing.to_owned()));
    let kind = "the form must be sent with the Content-Type application/x-www-form-urlencoded\n";
    assert_eq!(
        refusal("POST", "/log-requests", "Content-Type: text/plain\r\n", "mode=all"),
        (415, kind.to_owned())
    );
    let (status, why) = refusal("GET", "/keyspaces/%FF", "", "");
    assert_eq!(status, 400);
    assert!(why.starts_with("the path cannot be read: ") && why.ends_with('\n'), "{why}");
    let (status, why) = refusal("GET", "/live?method=a&method=b", "", "");
    assert_eq!(status, 400);
    assert!(why.starts_with("the query cannot be read: ") && why.ends_with('\n'), "{why}");
    admin.server.stop();
}

#[test]
fn a_server_without_a_token_says_so() {
    let admin = Admin::start(&[]);
    let page = admin.with_token("0123456789abcdef0123456789abcdef").get("/status");
    let why = "this server has no token: send the request without the header Authorization\n";
    assert_eq!((page.status, &*page.body), (401, why));
    admin.server.stop();
}
