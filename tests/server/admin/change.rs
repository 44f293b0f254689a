//! The page Change: inserts, deletes and increments by a form.

use super::access::{cql, guarded, user};
use super::{Admin, Browser, Page};
use crate::support::server::logged;

fn change(browser: &mut Browser, fields: &[(&str, &str)]) -> Page {
    let csrf = browser.get("/change").csrf();
    let own = [("csrf", &*csrf), ("keyspace", "Keyspace1")];
    browser.post("/change", &[&own[..], fields].concat())
}

/// Returns the page with a row of Standard1.
fn row(browser: &mut Browser, family: &str, key: &str) -> String {
    let path = format!("/ask?with=thrift&method=get_slice&keyspace=Keyspace1&family={family}&keys={key}");
    let page = browser.get(&path);
    assert_eq!(page.status, 200, "{}", page.body);
    page.body
}

#[test]
fn columns_are_inserted_and_removed() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let place = [("family", "Standard1"), ("key", "a"), ("column", "<b>")];
    let page = change(
        &mut browser,
        &[&place[..], &[("value", "0x6869"), ("timestamp", "10"), ("ttl", "500")]].concat(),
    );
    assert_eq!(page.status, 200, "{}", page.body);
    for part in
        ["insert was acknowledged with the timestamp 10.", "Show the row", "ttl=500", "client.insert("]
    {
        assert!(page.body.contains(part), "no {part:?} in {}", page.body);
    }
    let shown = row(&mut browser, "Standard1", "a");
    for part in ["&#60;b&#62;", ">hi<", "<td>10</td>", "<td>500</td>"] {
        assert!(shown.contains(part), "no {part:?} in {shown}");
    }
    // An older deletion does not hide the column.
    let remove = ("operation", "remove");
    change(&mut browser, &[&place[..], &[remove, ("timestamp", "9")]].concat());
    assert!(row(&mut browser, "Standard1", "a").contains(">hi<"));
    let page = change(&mut browser, &[("family", "Standard1"), ("key", "a"), remove]);
    assert!(page.body.contains("remove was acknowledged with the timestamp "), "{}", page.body);
    assert!(row(&mut browser, "Standard1", "a").contains("The result is empty."));
    // Super columns.
    let place = [("family", "Super1"), ("key", "a"), ("super_column", "s"), ("column", "c"), ("value", "v")];
    assert_eq!(change(&mut browser, &place).status, 200);
    assert!(row(&mut browser, "Super1", "a").contains(">v<"));
    assert_eq!(change(&mut browser, &[&place[..3], &[remove]].concat()).status, 200);
    assert!(row(&mut browser, "Super1", "a").contains("The result is empty."));
    admin.server.stop();
}

#[test]
fn counters_are_added_to() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let csrf = browser.get("/ask").csrf();
    for statement in [
        "CREATE KEYSPACE c WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE c.hits (page text, day text, n counter, PRIMARY KEY (page, day)) WITH COMPACT STORAGE",
    ] {
        assert_eq!(browser.post("/ask", &[("csrf", &csrf), ("cql", statement)]).status, 200);
    }
    let place =
        [("operation", "add"), ("keyspace", "c"), ("family", "hits"), ("key", "home"), ("column", "monday")];
    for value in ["5", "-2"] {
        let page = browser.post("/change", &[&[("csrf", &*csrf), ("value", value)], &place[..]].concat());
        assert_eq!(page.status, 200, "{}", page.body);
        assert!(page.body.contains("add was acknowledged."), "{}", page.body);
    }
    let page = browser.get("/ask?cql=SELECT+n+FROM+c.hits&view=json");
    assert!(page.body.contains("{&#34;n&#34;: 3}"), "{}", page.body);
    let page = browser.get("/ask?with=thrift&method=get&keyspace=c&family=hits&keys=home&column=monday");
    assert!(page.body.contains("<td>3</td>"), "{}", page.body);
    admin.server.stop();
}

#[test]
fn wrong_fields_are_refused() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let place = [("family", "Standard1"), ("key", "a"), ("column", "c"), ("value", "v")];
    for (field, why) in [
        (("timestamp", "now"), "is no timestamp"),
        (("ttl", "soon"), "is no time to live"),
        (("ttl", "-5"), "InvalidRequestException: "),
        (("operation", "add"), "is no number that can be added"),
        (("super_column", "s"), "InvalidRequestException: "),
        (("level", "SOME"), "unknown level"),
    ] {
        let page = change(&mut browser, &[&place[..], &[field]].concat());
        assert_eq!(page.status, 400, "{field:?}: {}", page.body);
        assert!(page.body.contains(why), "{field:?}: {}", page.body);
    }
    let page = browser.post("/change", &place);
    assert_eq!(page.status, 403, "without the token");
    assert!(row(&mut browser, "Standard1", "a").contains("The result is empty."));
    // A link fills the form, and changes nothing.
    let page =
        browser.get("/change?keyspace=Keyspace1&family=Standard1&key=a&column=c&value=v&operation=remove");
    assert!(page.body.contains("value=\"remove\" checked"), "{}", page.body);
    assert!(row(&mut browser, "Standard1", "a").contains("The result is empty."));
    admin.server.stop();
}

#[test]
fn changes_can_be_switched_off() {
    let admin = Admin::start(&["--admin-changes", "off"]);
    let mut browser = admin.browser();
    let home = browser.get("/");
    assert!(home.body.contains("href=\"/ask\"") && !home.body.contains("href=\"/change\""), "{}", home.body);
    let page = browser.get("/change");
    assert_eq!(page.status, 403);
    assert!(page.body.contains("--admin-changes on"), "{}", page.body);
    let page =
        change(&mut browser, &[("family", "Standard1"), ("key", "a"), ("column", "c"), ("value", "v")]);
    assert_eq!(page.status, 403);
    assert!(row(&mut browser, "Standard1", "a").contains("The result is empty."));
    admin.server.stop();
    let admin = Admin::start(&[]);
    assert!(admin.browser().get("/").body.contains("href=\"/change\""));
    admin.server.stop();
}

#[test]
fn changes_need_the_rights_of_the_user() {
    let admin = guarded();
    cql(&admin, "CREATE USER berta WITH PASSWORD 'of berta' NOSUPERUSER");
    cql(&admin, "GRANT SELECT ON \"Keyspace1\".\"Standard1\" TO berta");
    cql(&admin, "CREATE USER carl WITH PASSWORD 'of carl' NOSUPERUSER");
    cql(&admin, "GRANT MODIFY ON \"Keyspace1\".\"Standard1\" TO carl");
    let place = [("family", "Standard1"), ("key", "a"), ("column", "c"), ("value", "v")];
    for (name, password, status) in [
        ("anna", "of anna", 403),
        ("berta", "of berta", 403),
        ("carl", "of carl", 200),
        ("cassandra", "cassandra", 200),
    ] {
        let mut browser = user(&admin, name, password);
        let page = change(&mut browser, &place);
        assert_eq!(page.status, status, "{name}: {}", page.body);
    }
    admin.server.stop();
}

#[test]
fn changes_are_logged_without_keys_and_values() {
    let admin = guarded();
    let mut browser = user(&admin, "cassandra", "cassandra");
    let place = [("family", "Standard1"), ("key", "secret key"), ("column", "c"), ("value", "secret value")];
    assert_eq!(change(&mut browser, &place).status, 200);
    let csrf = browser.get("/ask").csrf();
    for (with, keyspace, statement) in [
        ("cql", "club", "UPDATE posts SET title = 'secret title' WHERE author = 'secret author'"),
        ("cql", "", "CREATE USER dora WITH PASSWORD 'secret password' NOSUPERUSER"),
        ("cql2", "Keyspace1", "DELETE FROM Standard1 WHERE KEY = '73656372'"),
        ("cql", "club", "SELECT title FROM posts"),
    ] {
        let fields = [("csrf", &*csrf), ("with", with), ("keyspace", keyspace), ("cql", statement)];
        let page = browser.post("/ask", &fields);
        assert_eq!(page.status, 200, "{statement}: {}", page.body);
    }
    let log = logged(admin.directory.path());
    let lines: Vec<&str> = log
        .lines()
        .filter_map(|line| line.split_once("a change was made by the admin server "))
        .map(|(_, fields)| fields)
        .collect();
    assert_eq!(
        lines,
        [
            "user=\"cassandra\" kind=\"insert\" keyspace=\"Keyspace1\" table=\"Standard1\"",
            "user=\"cassandra\" kind=\"UPDATE\" keyspace=\"club\" table=\"posts\"",
            "user=\"cassandra\" kind=\"CREATE USER\"",
            "user=\"cassandra\" kind=\"DELETE\" keyspace=\"Keyspace1\" table=\"Standard1\"",
        ],
        "{log}"
    );
    assert!(!log.contains("secret"), "{log}");
    admin.server.stop();
}
