//! The page /model: its examples, sketches that are typed in, mistakes, and hostile sketches.

use std::thread;

use super::{Admin, Browser, Page};

const EXAMPLES: [(&str, &[&str]); 7] = [
    ("blog", &["BloggyAppy", "Authors", "BlogEntries", "TaggedPosts", "Comments"]),
    ("blog-cql", &["blog", "authors", "blog_entries", "tagged_posts", "comments"]),
    ("killrvideo", &["killrvideo", "videos", "user_videos"]),
    ("posts", &["sketch", "posts_facebook"]),
    ("gyms", &["sketch", "gyms_by_city"]),
    ("liked-products", &["sketch", "customer_by_liked_product", "product_liked_by_customer"]),
    ("testtable", &["key_space_test", "testtable"]),
];

fn post(browser: &mut Browser, fields: &[(&str, &str)]) -> Page {
    let csrf = browser.get("/model").csrf();
    browser.post("/model", &[&[("csrf", &*csrf)], fields].concat())
}

/// Sketches with CQL, and returns the page.
fn sketch(browser: &mut Browser, definition: &str, data: &str) -> Page {
    let page = post(browser, &[("definition", definition), ("data", data)]);
    assert_eq!(page.status, 200, "{}", page.body);
    page
}

/// Returns the text of the page after an element with this id up to the next end of an element of this kind.
fn within<'p>(page: &'p Page, id: &str, end: &str) -> &'p str {
    let (_, rest) = page.body.split_once(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no {id}"));
    rest.split(end).next().unwrap()
}

#[test]
fn each_example_is_shown() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let first = browser.get("/model");
    assert_eq!(first.status, 200);
    for (example, names) in EXAMPLES {
        let link = format!("/model?example={example}");
        assert!(first.body.contains(&format!("href=\"{link}\"")), "{example}");
        let page = browser.get(&link);
        assert_eq!(page.status, 200, "{example}");
        assert!(!page.body.contains("class=\"errors\""), "{example}: {}", page.body);
        for name in names {
            assert!(page.body.contains(name), "{example} {name}");
        }
        for words in ["✓", "served", "refused", "only with ALLOW FILTERING"] {
            assert!(page.body.contains(words) || words == "✓" || words == "refused", "{example}: no {words}");
        }
        for script in ["storage-conf-text", "cassandra-cli-text", "cql-text"] {
            assert!(!within(&page, script, "</pre>").is_empty(), "{example} {script}");
        }
    }
    // The example can be sent back as it is.
    let page = browser.get("/model?example=blog");
    let unescape = |text: &str| {
        text.replace("&#60;", "<")
            .replace("&#62;", ">")
            .replace("&#34;", "\"")
            .replace("&#39;", "'")
            .replace("&#38;", "&")
    };
    let area = |id: &str| {
        let text = within(&page, id, "</textarea>");
        unescape(text.split_once(">\n").unwrap().1)
    };
    let (definition, data) = (area("definition"), area("data"));
    assert!(definition.starts_with("<Keyspace Name=\"BloggyAppy\">"), "{definition}");
    let fields = [
        ("language", "storage-conf"),
        ("definition", &*definition.replace('\n', "\r\n")),
        ("data_language", "cassandra-cli"),
        ("data", &*data),
    ];
    let again = post(&mut browser, &fields);
    assert!(!again.body.contains("class=\"errors\""), "{}", again.body);
    assert!(within(&again, "cassandra-cli-text", "</pre>").contains("create column family Comments"));
    assert_eq!(browser.get("/model?example=none").status, 404);
    admin.server.stop();
}

#[test]
fn cells_and_queries_of_a_sketch_are_shown() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let definition = "CREATE TABLE t (k text, c int, v text, PRIMARY KEY (k, c));";
    let page = sketch(&mut browser, definition, "INSERT INTO t (k, c, v) VALUES ('key', 7, 'val');");
    for shown in ["CQL table", "c=7 v", "7:v", "SELECT * FROM sketch.t WHERE k = &#39;key&#39; AND c = 7;"] {
        assert!(page.body.contains(shown), "no {shown}: {}", page.body);
    }
    let cql = within(&page, "cql-text", "</pre>");
    assert!(
        cql.contains("INSERT INTO sketch.t (k, c, v) VALUES (&#39;key&#39;, 7, &#39;val&#39;);"),
        "{cql}"
    );
    // The sketch is gone, and the server has no such keyspace.
    let page = sketch(&mut browser, "", "SELECT * FROM sketch.t;");
    assert!(within(&page, "data-errors", "</ul>").contains("line 1"), "{}", page.body);
    admin.server.stop();
}

#[test]
fn mistakes_are_shown_at_their_place() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let page = sketch(&mut browser, "CREATE TABLE t (k int PRIMARY KEY);\nCREATE TABEL u;", "INSERT INTO");
    let errors = within(&page, "definition-errors", "</ul>");
    assert!(errors.contains("line 2, column 8") && errors.contains("TABEL"), "{errors}");
    assert!(page.body.contains("aria-invalid=\"true\""));
    assert!(!page.body.contains("data-errors"), "data are not read after a mistake in the definition");
    let fields = [
        ("language", "storage-conf"),
        ("definition", "<Keyspace Name=\"A\"><ColumnFamily Nam=\"B\"/></Keyspace>"),
    ];
    let errors = post(&mut browser, &fields);
    assert!(within(&errors, "definition-errors", "</ul>").contains("line 1, column"), "{}", errors.body);
    admin.server.stop();
}

#[test]
fn a_column_family_is_added_by_the_form() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let family =
        [("action", "add"), ("name", "New"), ("comparator", "LongType"), ("subcomparator", "UTF8Type")];
    for (language, shown) in [
        ("storage-conf", "CompareSubcolumnsWith=&#34;UTF8Type&#34;"),
        ("cassandra-cli", "subcomparator = UTF8Type"),
        ("cql", "PRIMARY KEY (key, column1, column2)"),
    ] {
        let fields = [&family[..], &[("kind", "Super"), ("language", language)]].concat();
        let page = post(&mut browser, &fields);
        assert!(within(&page, "definition", "</textarea>").contains(shown), "{language}: {}", page.body);
        assert!(!page.body.contains("class=\"errors\""), "{language}: {}", page.body);
        assert!(page.body.contains("LongType"));
    }
    let page = post(
        &mut browser,
        &[("action", "add"), ("name", "<b>"), ("comparator", "LongType"), ("subcomparator", "LongType")],
    );
    assert!(page.body.contains("begins with a letter") && !page.body.contains("<b>"), "{}", page.body);
    admin.server.stop();
}

#[test]
fn hostile_sketches_stay_texts() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let definition =
        "<Keyspace Name=\"A\"><ColumnFamily Name=\"&lt;i&gt;\" CompareWith=\"UTF8Type\"/></Keyspace>";
    let data = format!(
        "set '<i>'['<b>\u{202e}k']['<u>\u{200b}\u{202e}'] = '</pre><script>\u{0}\u{7}'; set '<i>'[k][n] = '{}';",
        "x".repeat(100_000)
    );
    let fields = [
        ("language", "storage-conf"),
        ("definition", definition),
        ("data_language", "cassandra-cli"),
        ("data", &*data),
    ];
    let page = post(&mut browser, &fields);
    let (_, shown) = page.body.split_once("</form>\n").unwrap();
    for tag in ["<script>", "<i>", "<b>", "<u>", "</pre><"] {
        assert!(!shown.contains(tag), "{tag}");
    }
    let (families, _) = shown.split_once("aria-labelledby=\"storage-conf\"").unwrap();
    for escape in ["&#60;i&#62;", "&#60;u&#62;\\u{200b}\\u{202e}", "0x3c623ee280ae6b", "100000 bytes"] {
        assert!(families.contains(escape), "{escape}: {families}");
    }
    assert!(!families.contains(['\u{202e}', '\u{200b}']), "{families}");
    assert!(page.body.len() < 1_000_000, "{} bytes", page.body.len());
    let definition = "CREATE TABLE t (\"<b>\u{202e}k\" text, c text, \"</textarea>\" text, PRIMARY KEY (\"<b>\u{202e}k\", c));";
    let data = format!(
        "INSERT INTO t (\"<b>\u{202e}k\", c, \"</textarea>\") VALUES ('<i>', '\u{7}', '{}');",
        "x".repeat(100_000)
    );
    let page = sketch(&mut browser, definition, &data);
    let (_, shown) = page.body.split_once("</form>\n").unwrap();
    let (families, _) = shown.split_once("aria-labelledby=\"storage-conf\"").unwrap();
    assert!(
        !families.contains(['\u{202e}', '\u{7}']) && !shown.contains("<b>") && !shown.contains("<i>"),
        "{families}"
    );
    assert!(page.body.len() < 1_000_000, "{} bytes", page.body.len());
    // Mistakes print what was typed in.
    let page = sketch(&mut browser, "<script>alert(1)</script>", "");
    assert!(!page.body.contains("<script>alert"), "{}", page.body);
    let page =
        post(&mut browser, &[("language", "storage-conf"), ("definition", "<script>alert(1)</script>")]);
    assert!(!page.body.contains("<script>alert"), "{}", page.body);
    let page = post(&mut browser, &[("language", "cassandra-cli"), ("definition", "set <script>")]);
    assert!(!page.body.contains("set <script>"), "{}", page.body);
    // A page of another server cannot send a sketch.
    assert_eq!(browser.post("/model", &[("definition", "x")]).status, 403);
    admin.server.stop();
}

#[test]
fn huge_and_deep_sketches_are_refused_or_end() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let page = sketch(&mut browser, &"x".repeat(256 * 1024 + 1), "");
    assert!(within(&page, "definition-errors", "</ul>").contains("at most 262144"), "{}", page.body.len());
    let deep = [
        (
            "cql",
            format!(
                "CREATE TABLE t (k {}int{} PRIMARY KEY);",
                "frozen<list<".repeat(9000),
                ">>".repeat(9000)
            ),
        ),
        ("storage-conf", format!("{}{}", "<Keyspaces>".repeat(9000), "</Keyspaces>".repeat(9000))),
        ("cassandra-cli", format!("create keyspace k with a = {};", "{a:".repeat(60_000))),
    ];
    for (language, definition) in deep {
        let page = post(&mut browser, &[("language", language), ("definition", &definition)]);
        assert_eq!(page.status, 200, "{language}");
        assert!(page.body.contains("id=\"definition-errors\""), "{language}");
    }
    let many: String = (0..31).map(|at| format!("CREATE TABLE t{at} (k int PRIMARY KEY);\n")).collect();
    let page = sketch(&mut browser, &many, "");
    assert!(within(&page, "definition-errors", "</ul>").contains("at most 30"), "{}", page.body.len());
    // As many rows as there is room for.
    let rows: String =
        (0..1200).map(|at| format!("INSERT INTO t (k, c) VALUES ({}, {at});\n", at % 3)).collect();
    let page = sketch(&mut browser, "CREATE TABLE t (k int, c int, PRIMARY KEY (k, c));", &rows);
    assert!(page.body.contains("There are more rows"), "{}", page.body.len());
    admin.server.stop();
}

#[test]
fn sketches_at_the_same_time_do_not_mix() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let csrf = browser.get("/model").csrf();
    let pages: Vec<Page> = thread::scope(|scope| {
        let senders: Vec<_> = (0..10)
            .map(|at| {
                let mut browser = Browser { cookie: browser.cookie.clone(), ..admin.browser() };
                let csrf = &csrf;
                scope.spawn(move || {
                    let definition = format!("CREATE TABLE table_{at} (k text PRIMARY KEY);");
                    browser.post("/model", &[("csrf", &**csrf), ("definition", &definition)])
                })
            })
            .collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });
    for (at, page) in pages.iter().enumerate() {
        assert_eq!(page.status, 200, "{}", page.body);
        let cql = within(page, "cql-text", "</pre>");
        assert_eq!(cql.matches("CREATE TABLE").count(), 1, "{cql}");
        assert!(cql.contains(&format!("CREATE TABLE sketch.table_{at} (")), "{cql}");
    }
    admin.server.stop();
}

const GYMS: (&str, &str) = (
    "CREATE TABLE gyms (city text PRIMARY KEY, name text);",
    "INSERT INTO gyms (city, name) VALUES ('Oslo', '<b>');",
);

#[test]
fn a_sketch_is_a_link_and_a_file() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let page = sketch(&mut browser, GYMS.0, GYMS.1);
    let (before, _) = page.body.split_once("id=\"share\"").unwrap();
    let link = before.rsplit("href=\"").next().unwrap().split('"').next().unwrap().replace("&#38;", "&");
    let again = browser.get(&link);
    assert_eq!(again.status, 200);
    assert!(within(&again, "definition", "</textarea>").contains("CREATE TABLE gyms"), "{}", again.body);
    assert!(again.body.contains("sketch.") && again.body.contains("Oslo"), "{}", again.body);
    let csrf = page.csrf();
    let mut file = |form: &str| {
        let fields = [("csrf", &*csrf), ("definition", GYMS.0), ("data", GYMS.1), ("file", form)];
        browser.post("/model/file", &fields)
    };
    for (form, name, part) in [
        ("cql", "model.cql", "VALUES ('Oslo', '<b>')"),
        ("cassandra-cli", "model.cli", "create keyspace sketch"),
        ("storage-conf", "storage-conf.xml", "<Keyspace Name=\"sketch\""),
    ] {
        let reply = file(form);
        let disposition = format!("attachment; filename=\"{name}\"");
        assert_eq!((reply.status, reply.header("content-disposition")), (200, Some(&*disposition)));
        assert!(reply.body.contains(part), "{form}: {}", reply.body);
    }
    assert_eq!(file("nix").status, 400);
    // A text that is too long for an address has no link.
    let long = format!("{}\n-- {}", GYMS.0, "x".repeat(10_000));
    assert!(!sketch(&mut browser, &long, "").body.contains("id=\"share\""));
    admin.server.stop();
}

#[test]
fn a_sketch_is_applied_to_a_server_in_memory() {
    let admin = Admin::start(&[]);
    let mut browser = admin.browser();
    let page = sketch(&mut browser, GYMS.0, GYMS.1);
    assert!(page.body.contains("value=\"apply\""), "{}", page.body);
    let fields = [("definition", GYMS.0), ("data", GYMS.1), ("action", "apply")];
    let applied = post(&mut browser, &fields);
    assert_eq!(applied.status, 200, "{}", applied.body);
    assert!(
        applied.body.contains("This server has the model now: <a href=\"/keyspaces/sketch\">"),
        "{}",
        applied.body
    );
    let row = browser.get("/rows?keyspace=sketch&family=gyms&key=Oslo");
    assert!(row.body.contains("&#60;b&#62;"), "{}", row.body);
    // The keyspace exists now.
    let again = post(&mut browser, &fields);
    assert_eq!(again.status, 400);
    assert!(again.body.contains("the sketch was not applied as a whole: "), "{}", again.body);
    // Super columns come by cassandra-cli.
    let cli = "create keyspace zoo; use zoo; create column family pens with column_type = 'Super' and comparator = UTF8Type \
               and subcomparator = UTF8Type and key_validation_class = UTF8Type;";
    let fields = [("language", "cassandra-cli"), ("definition", cli), ("action", "apply")];
    let applied = post(&mut browser, &fields);
    assert!(applied.body.contains("/keyspaces/zoo"), "{}", applied.body);
    assert!(browser.get("/keyspaces/zoo").body.contains("super columns"));
    admin.server.stop();
    let admin = Admin::start(&["--admin-changes", "off"]);
    let mut browser = admin.browser();
    assert!(!sketch(&mut browser, GYMS.0, GYMS.1).body.contains("value=\"apply\""));
    let refused = post(&mut browser, &[("definition", GYMS.0), ("action", "apply")]);
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert_eq!(browser.get("/keyspaces/sketch").status, 404);
    admin.server.stop();
}
