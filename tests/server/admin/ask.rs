//! The page Ask: statements and Thrift calls with their results, what they read, and code.

use std::thread;
use std::time::Duration;

use super::access::{cql, guarded, user};
use super::{Admin, Browser, Page};
use crate::support;
use support::client::Style;
use support::value::{Value, fields, text};

/// Returns a query with these fields.
fn path(fields: &[(&str, &str)]) -> String {
    let encode = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02x}")).collect() };
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    format!("/ask?{}", fields.join("&"))
}

fn ask(browser: &mut Browser, statement: &str, view: &str) -> Page {
    browser.get(&path(&[("cql", statement), ("view", view)]))
}

/// Runs a statement that changes data, by the form.
fn run(browser: &mut Browser, statement: &str) -> Page {
    let csrf = browser.get("/ask").csrf();
    browser.post("/ask", &[("csrf", &csrf), ("cql", statement)])
}

/// A server with the table `s.books` of six rows, of which one is deleted.
fn library() -> (Admin, Browser) {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    for statement in [
        "CREATE KEYSPACE s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE s.books (author text, year int, title text, PRIMARY KEY (author, year)) WITH COMPACT STORAGE",
        "INSERT INTO s.books (author, year, title) VALUES ('austen', 1811, 'Sense')",
        "INSERT INTO s.books (author, year, title) VALUES ('austen', 1813, 'Pride')",
        "INSERT INTO s.books (author, year, title) VALUES ('austen', 1814, 'Park')",
        "INSERT INTO s.books (author, year, title) VALUES ('austen', 1815, '<b>Emma</b>')",
        "INSERT INTO s.books (author, year, title) VALUES ('melville', 1851, 'Whale')",
        "DELETE FROM s.books WHERE author = 'austen' AND year = 1814",
    ] {
        let page = run(&mut browser, statement);
        assert_eq!(page.status, 200, "{statement}: {}", page.body);
    }
    (admin, browser)
}

#[track_caller]
fn has(page: &Page, parts: &[&str]) {
    for part in parts {
        assert!(page.body.contains(part), "no {part:?} in {}", page.body);
    }
}

#[test]
fn a_result_has_three_views() {
    let (admin, mut browser) = library();
    let select = "SELECT * FROM s.books WHERE author = 'austen'";
    let table = ask(&mut browser, select, "table");
    assert_eq!(table.status, 200);
    has(
        &table,
        &[
            "<th scope=\"col\"><bdi>title</bdi></th>",
            "&#60;b&#62;Emma&#60;/b&#62;",
            "3 rows. ",
            "view=cells",
            "view=json",
        ],
    );
    assert!(!table.body.contains("<b>Emma"), "{}", table.body);
    let json = ask(&mut browser, select, "json");
    has(
        &json,
        &["{&#34;author&#34;: &#34;austen&#34;, &#34;year&#34;: 1811, &#34;title&#34;: &#34;Sense&#34;}"],
    );
    let cells = ask(&mut browser, select, "cells");
    has(&cells, &["the first 3 of 3", "s.books", "<ul class=\"cells\">", ">1811<", ">Sense<"]);
    // No view: the table.
    assert!(browser.get(&path(&[("cql", select)])).body.contains("<table id=\"result\">"));
    admin.server.stop();
}

#[test]
fn a_statement_is_explained_with_its_cost() {
    let (admin, mut browser) = library();
    let page = ask(
        &mut browser,
        "SELECT title FROM s.books WHERE author = 'austen' AND year > 1811 ORDER BY year DESC LIMIT 5",
        "table",
    );
    has(
        &page,
        &[
            "<span class=\"note\">Partitions</span> one, by its key",
            "<span class=\"note\">Direction</span> backwards",
            "<span class=\"note\">Limit</span> 5 rows",
            "Read one row",
            "row author=&#39;austen&#39;",
            "cells from the last to year=1811",
            "<th scope=\"row\">tombstones passed</th><td class=\"number\">1</td>",
            "<th scope=\"row\">rows returned</th><td class=\"number\">2</td>",
            "it reads backwards, which is slower",
        ],
    );
    let scan = ask(&mut browser, "SELECT * FROM s.books", "table");
    has(&scan, &["<span class=\"note\">Partitions</span> all rows", "Scan rows in the order of the ring"]);
    for statement in ["CREATE INDEX ON s.posts (tag)", "INSERT INTO s.posts (id, tag, n) VALUES (1, 'a', 2)"]
    {
        if statement.starts_with("CREATE") {
            run(&mut browser, "CREATE TABLE s.posts (id int PRIMARY KEY, tag text, n int)");
        }
        assert_eq!(run(&mut browser, statement).status, 200, "{statement}");
    }
    // Statements do not use the index before it is complete.
    thread::sleep(Duration::from_secs(1));
    let by_index =
        ask(&mut browser, "SELECT * FROM s.posts WHERE tag = 'a' AND n = 2 ALLOW FILTERING", "table");
    has(
        &by_index,
        &[
            "looks up one value of tag",
            "those that the index finds",
            "drops rows by n after reading them",
            "Look up a value in the index",
            "1 row. ",
        ],
    );
    admin.server.stop();
}

#[test]
fn a_statement_is_code_of_four_drivers() {
    let (admin, mut browser) = library();
    let page = browser.get(&path(&[("keyspace", "s"), ("cql", "SELECT * FROM books")]));
    has(
        &page,
        &[
            "cluster.connect(&#34;s&#34;)",
            ".withKeyspace(&#34;s&#34;)",
            "keyspace: &#34;s&#34;,",
            "cluster.Keyspace = &#34;s&#34;",
            "session.execute(&#34;SELECT * FROM books&#34;)",
        ],
    );
    admin.server.stop();
}

#[test]
fn long_results_have_pages() {
    let (admin, mut browser) = library();
    let batch: String = (0..1100)
        .map(|n| format!("INSERT INTO s.books (author, year, title) VALUES ('x', {n}, 't{n}'); "))
        .collect();
    assert_eq!(run(&mut browser, &format!("BEGIN UNLOGGED BATCH {batch} APPLY BATCH")).status, 200);
    let first = ask(&mut browser, "SELECT year FROM s.books WHERE author = 'x'", "table");
    has(&first, &["1000 rows, the first of more.", ">999</bdi>"]);
    assert!(!first.body.contains(">1000</bdi>"));
    let (_, link) = first.body.split_once("<p><a href=\"").unwrap();
    let next = link.split('"').next().unwrap().replace("&#38;", "&");
    let second = browser.get(&next);
    has(&second, &["100 rows. ", ">1000</bdi>", ">1099</bdi>"]);
    assert!(!second.body.contains(">999</bdi>") && !second.body.contains("Next page"));
    admin.server.stop();
}

#[test]
fn questions_by_get_change_nothing() {
    let (admin, mut browser) = library();
    let page = ask(&mut browser, "DELETE FROM s.books WHERE author = 'austen'", "table");
    assert_eq!(page.status, 200);
    has(&page, &["Nothing was written.", "delete all @"]);
    for statement in [
        "TRUNCATE s.books",
        "DROP TABLE s.books",
        "DROP KEYSPACE s",
        "ALTER TABLE s.books ADD x int",
        "INSERT INTO s.books (author, year, title) VALUES ('new', 1, 'x') IF NOT EXISTS",
    ] {
        let page = ask(&mut browser, statement, "table");
        assert!(page.status == 400 || page.body.contains("Nothing was written."), "{}", page.body);
    }
    has(&ask(&mut browser, "SELECT * FROM s.books", "table"), &["4 rows. "]);
    // A form of another page lacks the token.
    let forged = browser.post("/ask", &[("cql", "TRUNCATE s.books"), ("csrf", "0")]);
    assert_eq!(forged.status, 403);
    has(&ask(&mut browser, "SELECT * FROM s.books", "table"), &["4 rows. "]);
    admin.server.stop();
}

#[test]
fn without_changes_only_reads_run() {
    let admin = Admin::start(&["--admin-changes", "off"]);
    let mut browser = admin.browser();
    let csrf = browser.get("/ask").csrf();
    let keyspace =
        "CREATE KEYSPACE s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    for statement in
        [keyspace, "INSERT INTO \"Keyspace1\".\"Standard1\" (key, column1, value) VALUES (0x00, 0x00, 0x00)"]
    {
        for page in [
            ask(&mut browser, statement, "table"),
            browser.post("/ask", &[("csrf", &csrf), ("cql", statement)]),
            browser.post("/ask", &[("csrf", &csrf), ("cql", statement), ("with", "cql2")]),
        ] {
            assert!([400, 403].contains(&page.status), "{}", page.body);
            assert!(page.body.contains("--admin-changes on") || page.status == 400, "{}", page.body);
        }
    }
    assert_eq!(ask(&mut browser, "SELECT * FROM \"Keyspace1\".\"Standard1\"", "table").status, 200);
    has(&ask(&mut browser, "DESCRIBE KEYSPACES", "table"), &["Keyspace1"]);
    assert!(!ask(&mut browser, "DESCRIBE KEYSPACES", "json").body.contains("&#34;s&#34;"));
    admin.server.stop();
}

#[test]
fn errors_say_where_and_keep_the_statement() {
    let (admin, mut browser) = library();
    let page = ask(&mut browser, "SELECT * FRM s.books <script>", "table");
    assert_eq!(page.status, 400);
    has(&page, &["role=\"alert\"", "SELECT * FRM s.books &#60;script&#62;</textarea>"]);
    let page = ask(&mut browser, "SELECT * FROM s.nothing\u{202e}", "table");
    assert_eq!(page.status, 400);
    let page = browser.get(&path(&[("cql", "SELECT * FROM s.books"), ("level", "NONE")]));
    assert_eq!(page.status, 400);
    admin.server.stop();
}

/// A server with rows of a Standard and of a Super column family.
fn blog() -> (Admin, Browser) {
    let admin = Admin::start(&[]);
    let mut client = admin.server.client(Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text("Keyspace1"))])).void();
    for (key, name, value, time) in [
        ("jsmith", "first", "John", 10),
        ("jsmith", "last", "Smith", 20),
        ("jsmith", "mail", "<i>at</i>", 30),
        ("anna", "first", "Anna\u{202e}", 40),
    ] {
        let column = fields([(1, text(name)), (2, text(value)), (3, Value::I64(time))]);
        let parent = fields([(3, text("Standard1"))]);
        let arguments = fields([(1, text(key)), (2, parent), (3, column), (4, Value::I32(1))]);
        client.call("insert", &arguments).void();
    }
    let column = fields([(1, text("street")), (2, text("Main")), (3, Value::I64(50))]);
    let parent = fields([(3, text("Super1")), (4, text("home"))]);
    let arguments = fields([(1, text("jsmith")), (2, parent), (3, column), (4, Value::I32(1))]);
    client.call("insert", &arguments).void();
    let browser = admin.browser();
    (admin, browser)
}

fn call(browser: &mut Browser, method: &str, fields: &[(&str, &str)]) -> Page {
    let all = [&[("with", "thrift"), ("method", method), ("keyspace", "Keyspace1")], fields].concat();
    browser.get(&path(&all))
}

#[test]
fn a_call_is_built_by_the_form() {
    let (admin, mut browser) = blog();
    let family = ("family", "Standard1");
    let page = call(
        &mut browser,
        "get_slice",
        &[
            family,
            ("keys", "jsmith"),
            ("start", "mail"),
            ("finish", "first"),
            ("reversed", "yes"),
            ("count", "2"),
        ],
    );
    assert_eq!(page.status, 200, "{}", page.body);
    has(
        &page,
        &[
            "&#60;i&#62;at&#60;/i&#62;",
            ">Smith<",
            "2 rows. ",
            "cells from mail to first, backwards",
            "Read one row",
            "row jsmith",
            "<th scope=\"row\">cells read</th><td class=\"number\">2</td>",
            "client.set_keyspace(&#34;Keyspace1&#34;)",
            "SliceRange(start=b&#34;mail&#34;, finish=b&#34;first&#34;, reversed=True, count=2)",
            "Go (generated Thrift client)",
        ],
    );
    assert!(!page.body.contains(">John<"), "{}", page.body);
    let page = call(&mut browser, "get", &[family, ("keys", "0x6a736d697468"), ("column", "first")]);
    has(&page, &[">John<", ">10<", "cells by their names:"]);
    let page = call(&mut browser, "get_count", &[family, ("keys", "jsmith")]);
    has(&page, &["<td>3</td>"]);
    let page =
        call(&mut browser, "multiget_slice", &[family, ("keys", "jsmith\nanna"), ("columns", "first\nlast")]);
    has(&page, &[">0x416e6e61e280ae<", ">Smith<", "2 rows. "]);
    let page = call(&mut browser, "get_range_slices", &[family, ("view", "json")]);
    has(&page, &["&#34;key&#34;:&#34;jsmith&#34;", "&#34;value&#34;:&#34;Smith&#34;"]);
    let supers = ("family", "Super1");
    let page = call(&mut browser, "get_slice", &[supers, ("keys", "jsmith")]);
    has(&page, &["super column</bdi>", ">home<", ">street<", ">Main<", "all super columns, forwards"]);
    let page = call(&mut browser, "get_slice", &[supers, ("keys", "jsmith"), ("super_column", "home")]);
    has(&page, &["in the super column home", ">Main<"]);
    admin.server.stop();
}

#[test]
fn a_wrong_call_says_what_is_wrong() {
    let (admin, mut browser) = blog();
    let family = ("family", "Standard1");
    for (method, fields, why) in [
        ("insert", vec![family, ("keys", "a")], "is no method that reads"),
        ("get_slice", vec![("family", "Nothing"), ("keys", "a")], "there is no column family"),
        (
            "get_slice",
            vec![family, ("keys", "a\nb")],
            "get_slice reads one row, and the field Keys has 2 lines",
        ),
        ("get_slice", vec![family, ("keys", "0x0")], "even number of hexadecimal digits"),
        ("get_slice", vec![family, ("keys", "a"), ("count", "many")], "is no number of columns"),
        ("get_slice", vec![family, ("keys", "a"), ("count", "10001")], "too many for a page"),
        ("get_range_slices", vec![family, ("rows", "1001")], "a page shows at most 1000"),
        ("get_indexed_slices", vec![family, ("filter", "what")], "is no condition"),
        ("get_indexed_slices", vec![family, ("filter", "a = b")], "InvalidRequestException: "),
        ("get", vec![family, ("keys", "a"), ("column", "b")], "NotFoundException"),
        ("get_slice", vec![family, ("keys", "a"), ("level", "EACH_QUORUM")], "InvalidRequestException: "),
    ] {
        let page = call(&mut browser, method, &fields);
        assert_eq!(page.status, 400, "{method} {fields:?}: {}", page.body);
        has(&page, &[why]);
    }
    admin.server.stop();
}

#[test]
fn cql_2_runs_too() {
    let (admin, mut browser) = blog();
    let select = "SELECT * FROM Standard1 WHERE KEY = '6a736d697468'";
    let page = browser.get(&path(&[("with", "cql2"), ("keyspace", "Keyspace1"), ("cql", select)]));
    assert_eq!(page.status, 200, "{}", page.body);
    has(&page, &["1 row. "]);
    let change = "DELETE FROM Standard1 WHERE KEY = '6a736d697468'";
    let page = browser.get(&path(&[("with", "cql2"), ("keyspace", "Keyspace1"), ("cql", change)]));
    assert_eq!(page.status, 400, "{}", page.body);
    has(&call(&mut browser, "get_count", &[("family", "Standard1"), ("keys", "jsmith")]), &["<td>3</td>"]);
    admin.server.stop();
}

#[test]
fn questions_need_the_rights_of_cql_and_thrift() {
    let admin = guarded();
    cql(&admin, "CREATE USER berta WITH PASSWORD 'of berta' NOSUPERUSER");
    cql(&admin, "GRANT SELECT ON \"Keyspace1\".\"Standard1\" TO berta");
    let select = "SELECT * FROM \"Keyspace1\".\"Standard1\"";
    let truncate = "TRUNCATE \"Keyspace1\".\"Standard1\"";
    let slice = [("family", "Standard1"), ("keys", "a")];
    for (name, password, reads) in [("anna", "of anna", 403), ("berta", "of berta", 200)] {
        let mut browser = user(&admin, name, password);
        for view in ["table", "cells", "json"] {
            assert_eq!(ask(&mut browser, select, view).status, reads, "{name}");
        }
        assert_eq!(call(&mut browser, "get_slice", &slice).status, reads, "{name}");
        assert_eq!(call(&mut browser, "get_slice", &[("family", "Super1"), ("keys", "a")]).status, 403);
        assert_eq!(run(&mut browser, truncate).status, 403, "{name}");
        let write = "INSERT INTO \"Keyspace1\".\"Standard1\" (key, column1, value) VALUES (0x00, 0x00, 0x00)";
        assert_eq!(ask(&mut browser, write, "table").status, 403, "{name}");
        assert_eq!(run(&mut browser, write).status, 403, "{name}");
    }
    let mut root = user(&admin, "cassandra", "cassandra");
    assert_eq!(run(&mut root, truncate).status, 200);
    admin.server.stop();
}

#[test]
fn a_result_is_a_file_with_whole_values() {
    let (admin, mut browser) = library();
    let long = "=1+\"2\"".repeat(100);
    run(&mut browser, &format!("INSERT INTO s.books (author, year, title) VALUES ('formula', 1, '{long}')"));
    let file = |browser: &mut Browser, extension: &str, fields: &[(&str, &str)]| {
        let path = path(fields).replacen("/ask?", &format!("/ask.{extension}?"), 1);
        let page = browser.get(&path);
        assert_eq!(page.status, 200, "{}", page.body);
        let name = format!("attachment; filename=\"result.{extension}\"");
        assert_eq!(page.header("content-disposition"), Some(&*name));
        page.body
    };
    let austen = [("cql", "SELECT * FROM s.books WHERE author = 'austen'")];
    let expected =
        "author,year,title\r\nausten,1811,Sense\r\nausten,1813,Pride\r\nausten,1815,<b>Emma</b>\r\n";
    assert_eq!(file(&mut browser, "csv", &austen), expected);
    let rows: serde_json::Value = serde_json::from_str(&file(&mut browser, "json", &austen)).unwrap();
    assert_eq!(rows[2]["title"], "<b>Emma</b>");
    let formula = [("cql", "SELECT title FROM s.books WHERE author = 'formula'")];
    let quoted = long.replace('"', "\"\"");
    assert_eq!(file(&mut browser, "csv", &formula), format!("title\r\n\"'{quoted}\"\r\n"));
    let call =
        [("with", "thrift"), ("keyspace", "s"), ("family", "books"), ("keys", "austen"), ("count", "1")];
    let lines = file(&mut browser, "csv", &call);
    assert!(lines.starts_with("name,value,timestamp,TTL\r\n1811,Sense,"), "{lines}");
    let cql2 = [("with", "cql2"), ("keyspace", "s"), ("cql", "SELECT FIRST 10 * FROM books LIMIT 10")];
    assert!(file(&mut browser, "csv", &cql2).contains(&quoted), "a long value of CQL 2 is whole");
    assert!(file(&mut browser, "json", &cql2).contains(&long.replace('"', "\\\"")));
    for (path, status) in [("/ask.csv", 400), ("/ask.csv?cql=USE%20s", 400), ("/ask.json?cql=SELECT", 400)] {
        assert_eq!(browser.get(path).status, status, "{path}");
    }
    admin.server.stop();
}

#[test]
fn ask_begins_with_examples_that_can_be_asked() {
    let (admin, mut browser) = library();
    for fields in [
        &[("keyspace", "s")][..],
        &[("with", "cql2"), ("keyspace", "s")],
        &[("with", "thrift"), ("keyspace", "s")],
        &[],
    ] {
        let page = browser.get(&path(&[fields, &[("view", "form")]].concat()));
        let (_, examples) =
            page.body.split_once("id=\"examples-title\"").unwrap_or_else(|| panic!("{}", page.body));
        let examples = examples.split("</ul>").next().unwrap();
        let links: Vec<_> = examples.split("<a href=\"").skip(1).collect();
        assert!(!links.is_empty(), "{fields:?}");
        for link in links {
            let href = link.split('"').next().unwrap().replace("&#38;", "&").replace("#answer", "");
            let answer = browser.get(&href);
            assert_eq!(answer.status, 200, "{href}: {}", answer.body);
            assert!(answer.body.contains("id=\"result-title\""), "{href}");
        }
    }
    let page =
        browser.get(&path(&[("with", "thrift"), ("keyspace", "s"), ("family", "books"), ("view", "form")]));
    has(
        &page,
        &["<optgroup label=\"s\" data-keyspace=\"s\">", "<option value=\"books\" selected>books</option>"],
    );
    admin.server.stop();
}
