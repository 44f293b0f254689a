//! Keyspaces, rows and cells in the console.

use std::fmt::Write;
use std::fs;

use super::{Admin, Browser, Page};

/// The time UUID of the comments, and the date in it.
const UUID: &str = "2d1b8a00-8b95-11de-8a39-0800200c9a66";

/// Rows of the blog: text, bytes, a deleted row, tombstones, and super columns.
const BLOG: &str = r#"{"column_families": [
  {"keyspace": "BloggyAppy", "name": "Authors", "rows": [
    {"key": "Arin Sarkissian", "cells": [
      {"name": "country", "value": "USA", "timestamp": 1250558130123456},
      {"name": "email", "value": "arin@digg.com", "timestamp": 7},
      {"name": "gone", "timestamp": 9, "deleted_at_s": 1795565000},
      {"name": "later", "value": "soon", "timestamp": 8, "ttl_s": 864000, "expires_at_s": 2100000000},
      {"name": "photo", "value": {"hex": "00ff"}, "timestamp": 10}]},
    {"key": "deleted", "deletion": {"timestamp": 1250558130000000, "deleted_at_s": 1795565000}, "cells": []}]},
  {"keyspace": "BloggyAppy", "name": "Comments", "rows": [
    {"key": "first-post", "deleted_super_columns": [
       {"name": {"typed": "2d1b8a02-8b95-11de-8a39-0800200c9a66"}, "deletion": {"timestamp": 5, "deleted_at_s": 1795565000}}],
     "cells": [
      {"super_column": {"typed": "2d1b8a00-8b95-11de-8a39-0800200c9a66"}, "name": "commenter", "value": "Joe", "timestamp": 1},
      {"super_column": {"typed": "2d1b8a00-8b95-11de-8a39-0800200c9a66"}, "name": "text", "value": "Great!", "timestamp": 1},
      {"super_column": {"typed": "2d1b8a01-8b95-11de-8a39-0800200c9a66"}, "name": "commenter", "value": "Ann", "timestamp": 1}]}]}
]}"#;

const TABLES: &str = "
    CREATE KEYSPACE club WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
    CREATE TABLE club.posts (author text, day int, at timeuuid, title text, tags set<text>, votes map<text, int>,
        site text static, PRIMARY KEY ((author, day), at)) WITH CLUSTERING ORDER BY (at DESC);
    INSERT INTO club.posts (author, day, at, title, tags, votes, site)
        VALUES ('austen', 1, 2d1b8a00-8b95-11de-8a39-0800200c9a66, 'Emma', {'new', 'old'}, {'up': 2}, 'blog');
    INSERT INTO club.posts (author, day, at, title)
        VALUES ('austen', 1, 2d1b8a01-8b95-11de-8a39-0800200c9a66, 'Removed');
    DELETE FROM club.posts WHERE author = 'austen' AND day = 1 AND at = 2d1b8a01-8b95-11de-8a39-0800200c9a66;
    CREATE TABLE club.hits (page text PRIMARY KEY, count counter);
    UPDATE club.hits SET count = count + 42 WHERE page = 'home';
";

/// Starts a server with data in files of these names.
fn with_data(files: &[(&str, &str)]) -> Admin {
    let directory = tempfile::tempdir().unwrap();
    let mut options = Vec::new();
    for (name, content) in files {
        let path = directory.path().join(name);
        fs::write(&path, content).unwrap();
        options.extend(["--load".to_owned(), path.to_str().unwrap().to_owned()]);
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    Admin::start(&options)
}

/// Returns the text of a page without its tags, with single blanks.
fn text_of(page: &Page) -> String {
    let mut text = String::new();
    for part in page.body.split('<') {
        let (_, after) = part.split_once('>').unwrap_or_default();
        text.push_str(after);
        text.push(' ');
    }
    let text = text
        .replace("&#60;", "<")
        .replace("&#34;", "\"")
        .replace("&#62;", ">")
        .replace("&#39;", "'")
        .replace("&#38;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the page of a path, which must exist.
fn found(browser: &mut Browser, path: &str) -> Page {
    let page = browser.get(path);
    assert_eq!(page.status, 200, "{path}: {}", page.body);
    page
}

#[track_caller]
fn has(page: &Page, parts: &[&str]) {
    let text = text_of(page);
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

/// Returns the address of the link whose text begins with some words.
fn link(page: &Page, words: &str) -> Option<String> {
    let mut links = page.body.split("<a href=\"").skip(1);
    let found = links.find(|link| {
        let (_, after) = link.split_once('>').unwrap_or_default();
        let after = after.trim_start().trim_start_matches("<bdi>");
        after.starts_with(words)
    })?;
    Some(found.split('"').next()?.replace("&#38;", "&"))
}

#[test]
fn a_keyspace_is_drawn_and_described() {
    let admin = with_data(&[("tables.cql", TABLES)]);
    let mut browser = admin.browser();
    let list = found(&mut browser, "/keyspaces");
    has(
        &list,
        &["BloggyAppy", "SimpleStrategy, factor 1", "Comments Super column family", "posts CQL table"],
    );
    assert_eq!(link(&list, "BloggyAppy").as_deref(), Some("/keyspaces/BloggyAppy"));
    let blog = found(&mut browser, "/keyspaces/BloggyAppy");
    has(
        &blog,
        &[
            "Durable writes yes",
            "The row key is BytesType. A row has columns of any TimeUUIDType name with values of BytesType.",
            "A row has super columns of any TimeUUIDType name. Each super column has columns of any BytesType name \
             with values of BytesType.",
        ],
    );
    has(
        &found(&mut browser, "/keyspaces/club"),
        &[
            "The partition key is author (text), day (int). The rows of a partition are sorted by at (timeuuid, \
             descending). The partition has one value of site (text). Each of them has the columns tags \
             (set<text>), title (text), votes (map<text, int>).",
            "hits CQL table of counters",
        ],
    );
    assert_eq!(browser.get("/keyspaces/Nowhere").status, 404);
    admin.server.stop();
}

#[test]
fn rows_are_listed_and_lead_to_their_cells() {
    let admin = with_data(&[("blog.json", BLOG)]);
    let mut browser = admin.browser();
    let list = found(&mut browser, "/rows?keyspace=BloggyAppy&family=Authors");
    has(
        &list,
        &["Arin Sarkissian", "country USA", "row was deleted", "no columns", "in the order of their tokens"],
    );
    let row = found(&mut browser, &link(&list, "Arin Sarkissian").unwrap());
    has(
        &row,
        &[
            "country 0x636f756e747279 USA 0x555341 2009-08-18 01:15:30.123456Z 1250558130123456 live",
            "email 0x656d61696c arin@digg.com 0x6172696e40646967672e636f6d 7 live",
            "gone 0x676f6e65 no value 9 deleted 2026-11-25 00:03:20Z",
            "2036-07-18 13:20:00Z (TTL 864000 s)",
            "photo 0x70686f746f 0x00ff 0x00ff 10 live",
        ],
    );
    let deleted = found(&mut browser, &link(&list, "deleted").unwrap());
    has(
        &deleted,
        &[
            "deleted with timestamp 1250558130000000 (2009-08-18 01:15:30.000Z), by the server's clock on 2026-11-25",
        ],
    );
    // A key is typed as text or as hex; one that cannot be read is explained above the rows.
    for key in ["Arin+Sarkissian", "0x4172696e205361726b69737369616e"] {
        has(
            &found(&mut browser, &format!("/rows?keyspace=BloggyAppy&family=Authors&key={key}")),
            &["arin@digg.com"],
        );
    }
    let wrong = browser.get("/rows?keyspace=BloggyAppy&family=Authors&key=0xabc");
    assert_eq!(wrong.status, 400);
    has(&wrong, &["the key \"0xabc\" cannot be read", "Arin Sarkissian"]);
    let nobody = found(&mut browser, "/rows?keyspace=BloggyAppy&family=Authors&key=nobody");
    has(&nobody, &["There are no columns in this slice.", "in no row of CQL"]);
    assert_eq!(browser.get("/rows?keyspace=BloggyAppy&family=None").status, 404);
    admin.server.stop();
}

#[test]
fn super_columns_unfold_and_have_pages_of_their_own() {
    let admin = with_data(&[("blog.json", BLOG)]);
    let mut browser = admin.browser();
    let row = found(&mut browser, "/rows?keyspace=BloggyAppy&family=Comments&key=first-post");
    has(
        &row,
        &[
            &format!("{UUID} 2009-08-18 01:19:29.086Z 2 columns"),
            "commenter 0x636f6d6d656e746572 Joe 0x4a6f65 1 live",
            "2d1b8a02-8b95-11de-8a39-0800200c9a66 2009-08-18 01:19:29.086Z 0 columns was deleted",
            "deleted with timestamp 5",
        ],
    );
    assert_eq!(row.body.matches("<details class=\"super\" open>").count(), 3);
    // The rows of CQL beside it: one for each column of a super column, with links to the cells.
    assert!(row.body.contains("<a href=\"#s0c0\">") && row.body.contains("<tr id=\"s0c0\""));
    let alone = found(&mut browser, &link(&row, "This super column alone").unwrap());
    has(&alone, &["Super column 2d1b8a00-8b95-11de-8a39-0800200c9a66", "Great!"]);
    assert!(!text_of(&alone).contains("Ann"), "it shows one super column");
    assert!(alone.body.contains("<tr id=\"c1\""));
    admin.server.stop();
}

#[test]
fn cells_of_tables_are_shown_beside_their_rows() {
    let admin = with_data(&[("tables.cql", TABLES)]);
    let mut browser = admin.browser();
    let row = found(&mut browser, "/rows?keyspace=club&family=posts&key=austen:1");
    has(
        &row,
        &[
            ":site static",
            &format!("{UUID}:title"),
            &format!("{UUID}:tags:new"),
            "Range tombstones",
            "hidden by a deletion",
            "author text, partition key",
            "at timeuuid, clustering",
            &format!("austen 1 {UUID} blog {{ new , old }} Emma {{ up : 2 }}"),
        ],
    );
    // One row: the deleted one has cells, but is not in CQL.
    let (_, cql) = row.body.split_once("<table class=\"cql\">").unwrap();
    assert_eq!(cql.matches("<tr>").count(), 2, "{cql}");
    assert!(!cql.contains("Removed"));
    // Each value leads to its cell.
    for target in cql.split("href=\"#").skip(1).filter_map(|link| link.split('"').next()) {
        assert!(row.body.contains(&format!("<tr id=\"{target}\"")), "no cell {target}");
    }
    has(&found(&mut browser, "/rows?keyspace=club&family=hits&key=home"), &["42", "counter"]);
    let json = found(&mut browser, "/rows.json?keyspace=club&family=hits&key=home");
    assert!(json.body.contains(r#""count":42"#), "{}", json.body);
    admin.server.stop();
}

/// A row of many cells, of which every third is a tombstone.
fn wide(count: usize) -> String {
    let mut cells = String::new();
    for at in 0..count {
        let comma = if at == 0 { "" } else { "," };
        let what = if at % 3 == 1 { "\"deleted_at_s\": 1795565000" } else { "\"value\": \"v\"" };
        write!(cells, "{comma}{{\"name\": {{\"typed\": \"{at}\"}}, {what}, \"timestamp\": 1}}").unwrap();
    }
    format!(
        "{{\"column_families\": [{{\"keyspace\": \"Keyspace1\", \"name\": \"StandardLong1\", \"rows\": \
         [{{\"key\": \"wide\", \"cells\": [{cells}]}}]}}]}}"
    )
}

/// Returns the names of the cells on a page.
fn names(page: &Page) -> Vec<i64> {
    let rows = page.body.split("<tr id=\"c").skip(1);
    let name = |row: &str| row.split_once("class=\"bytes t-number\">")?.1.split('<').next()?.parse().ok();
    rows.filter_map(name).collect()
}

#[test]
fn a_wide_row_is_read_in_slices_in_both_directions() {
    let admin = with_data(&[("wide.json", &wide(1000))]);
    let mut browser = admin.browser();
    let path = "/rows?keyspace=Keyspace1&family=StandardLong1&key=wide";
    let first = found(&mut browser, path);
    assert_eq!(names(&first), (0..100).collect::<Vec<_>>(), "tombstones count too");
    assert_eq!((link(&first, "Previous"), link(&first, "First")), (None, None));
    let second = found(&mut browser, &link(&first, "Next").unwrap());
    assert_eq!(names(&second), (100..200).collect::<Vec<_>>());
    let back = found(&mut browser, &link(&second, "Previous").unwrap());
    assert_eq!(names(&back), (0..100).collect::<Vec<_>>());
    let middle = found(&mut browser, &format!("{path}&start=950"));
    assert_eq!(names(&middle), (950..1000).collect::<Vec<_>>());
    assert_eq!(link(&middle, "Next"), None);
    let last = found(&mut browser, &link(&first, "Last").unwrap());
    assert_eq!(names(&last), (900..1000).rev().collect::<Vec<_>>());
    assert_eq!(link(&last, "Last"), None);
    let down = found(&mut browser, &link(&last, "Next").unwrap());
    assert_eq!(names(&down), (800..900).rev().collect::<Vec<_>>());
    let up = found(&mut browser, &link(&down, "Previous").unwrap());
    assert_eq!(names(&up), (900..1000).rev().collect::<Vec<_>>());
    // All slices by their links, once each.
    let mut all = names(&first);
    let mut page = first;
    while let Some(next) = link(&page, "Next") {
        page = found(&mut browser, &next);
        all.extend(names(&page));
    }
    assert_eq!(all, (0..1000).collect::<Vec<_>>());
    let wrong = browser.get(&format!("{path}&start=ten"));
    assert_eq!(wrong.status, 400);
    has(&wrong, &["the name \"ten\" cannot be read"]);
    admin.server.stop();
}

#[test]
fn the_first_range_tombstones_of_a_row_are_shown() {
    let mut script = TABLES.to_owned();
    script.push_str("CREATE TABLE club.log (day int, at int, line text, PRIMARY KEY (day, at));");
    for at in 0..250 {
        write!(script, "DELETE FROM club.log WHERE day = 1 AND at = {at};").unwrap();
    }
    script.push_str("INSERT INTO club.log (day, at, line) VALUES (1, 300, 'kept');");
    let admin = with_data(&[("tables.cql", &script)]);
    let mut browser = admin.browser();
    let row = found(&mut browser, "/rows?keyspace=club&family=log&key=1");
    has(&row, &["Range tombstones 250", "The first 100 of 250 range tombstones are shown", "kept"]);
    let (_, ranges) = row.body.split_once("Range tombstones of the row").unwrap();
    let (ranges, _) = ranges.split_once("</table>").unwrap();
    assert_eq!(ranges.matches("<tr>").count(), 101, "{ranges}");
    let json = found(&mut browser, "/rows.json?keyspace=club&family=log&key=1");
    let json: serde_json::Value = serde_json::from_str(&json.body).unwrap();
    let ranges = json[0]["cells"].as_array().unwrap().iter().filter(|cell| cell.get("finish").is_some());
    assert_eq!(ranges.count(), 100, "{json}");
    assert_eq!(json[0]["left_out"], "the row has 250 range tombstones: the first 100 of them are here");
    assert_eq!(json[0].get("next"), None);
    admin.server.stop();
}

#[test]
fn rows_are_listed_in_pages() {
    let rows = (0..250).map(|at| {
        format!("{{\"key\": \"row {at:03}\", \"cells\": [{{\"name\": \"a\", \"value\": \"b\"}}]}}")
    });
    let rows: Vec<String> = rows.collect();
    let data = format!(
        "{{\"column_families\": [{{\"keyspace\": \"Keyspace1\", \"name\": \"Standard1\", \"rows\": [{}]}}]}}",
        rows.join(",")
    );
    let admin = with_data(&[("rows.json", &data)]);
    let mut browser = admin.browser();
    let mut page = found(&mut browser, "/rows?keyspace=Keyspace1&family=Standard1");
    let mut keys = Vec::new();
    let mut pages = 1;
    loop {
        let found_keys =
            page.body.split("<bdi>row ").skip(1).filter_map(|row| row.split('<').next()?.parse::<i64>().ok());
        keys.extend(found_keys);
        let Some(next) = link(&page, "Next rows") else { break };
        page = found(&mut browser, &next);
        pages += 1;
    }
    keys.sort_unstable();
    assert_eq!((pages, keys), (3, (0..250).collect()));
    assert_eq!(link(&page, "First rows").as_deref(), Some("/rows?keyspace=Keyspace1&family=Standard1"));
    admin.server.stop();
}

/// Names that could break a page or deceive its reader, with their texts.
const HOSTILE: [(&str, &str); 5] = [
    ("\"<script>alert(1)</script>\"", "<script>alert(1)</script>"),
    ("\"a\\u202eb\"", "0x61e280ae62"),
    ("\"line\\nbreak\"", "line break"),
    ("{\"hex\": \"ff00\"}", "0xff00"),
    ("\"back\\\\slash\"", "back\\\\slash"),
];

#[test]
fn hostile_names_are_shown_as_they_are() {
    let long = "n".repeat(60_000);
    let cells: Vec<String> = HOSTILE
        .iter()
        .map(|(name, _)| format!("{{\"name\": {name}, \"value\": {name}, \"timestamp\": 1}}"))
        .chain([format!("{{\"name\": \"{long}\", \"value\": \"{long}\", \"timestamp\": 1}}")])
        .collect();
    let cells = cells.join(",");
    let keys = HOSTILE.iter().map(|(name, _)| (*name).to_owned()).chain([format!("\"{long}\"")]);
    let rows: Vec<String> = keys.map(|key| format!("{{\"key\": {key}, \"cells\": [{cells}]}}")).collect();
    let data = format!(
        "{{\"column_families\": [{{\"keyspace\": \"BloggyAppy\", \"name\": \"Authors\", \"rows\": [{}]}}]}}",
        rows.join(",")
    );
    let admin = with_data(&[("hostile.json", &data)]);
    let mut browser = admin.browser();
    let path = "/rows?keyspace=BloggyAppy&family=Authors";
    let list = found(&mut browser, path);
    let row = found(&mut browser, &format!("{path}&key=0xff00"));
    for page in [&list, &row] {
        assert!(!page.body.contains("<script>") && !page.body.contains('\u{202e}'), "{}", page.body);
        has(page, &HOSTILE.map(|(_, text)| text));
        has(page, &["60000 bytes"]);
        assert!(page.body.contains(">line\nbreak<"), "a text has its lines: {}", page.body);
        assert!(page.body.len() < 2_000_000, "{}", page.body.len());
    }
    // A key that is too long for an URI is sent by a form.
    let csrf = list.csrf();
    let key = format!("0x{}", "6e".repeat(60_000));
    assert!(list.body.contains(&format!("name=\"key\" value=\"{key}\"")));
    let fields = [("csrf", &*csrf), ("keyspace", "BloggyAppy"), ("family", "Authors"), ("key", &*key)];
    let long_row = browser.post("/rows", &fields);
    assert_eq!(long_row.status, 200);
    has(&long_row, &["60000 bytes", "back\\\\slash"]);
    let cell = browser.post("/cell", &[&fields[..], &[("name", &*key)]].concat());
    assert_eq!(cell.status, 200, "{}", cell.body);
    assert!(cell.body.contains(&long), "the whole name is shown");
    let too_long = format!("0x{}", "6e".repeat(70_000));
    let refused = browser.post("/rows", &[fields[0], fields[1], fields[2], ("key", &*too_long)]);
    assert_eq!(refused.status, 400);
    has(&refused, &["the key has 70000 bytes: it may have at most 65535"]);
    admin.server.stop();
}

#[test]
fn a_row_is_json_in_the_form_of_sstable_show() {
    let admin = with_data(&[("blog.json", BLOG)]);
    let mut browser = admin.browser();
    let page =
        found(&mut browser, "/rows.json?keyspace=BloggyAppy&family=Authors&key=Arin+Sarkissian&start=later");
    assert_eq!(page.header("content-type"), Some("application/json"));
    let json: serde_json::Value = serde_json::from_str(&page.body).unwrap();
    let expected = serde_json::json!([{"key": "4172696e205361726b69737369616e", "cells": [
        {"name": "6c61746572", "value": "736f6f6e", "timestamp": 8, "ttl": 864000, "expires_at": 2_100_000_000},
        {"name": "70686f746f", "value": "00ff", "timestamp": 10},
    ]}]);
    assert_eq!(json, expected);
    let page = found(&mut browser, "/rows.json?keyspace=BloggyAppy&family=Comments&key=first-post");
    let json: serde_json::Value = serde_json::from_str(&page.body).unwrap();
    assert_eq!(json[0]["cells"].as_array().map(Vec::len), Some(4), "{json}");
    admin.server.stop();
    // A long row says where it goes on.
    let admin = with_data(&[("wide.json", &wide(150))]);
    let mut browser = admin.browser();
    let path = "/rows.json?keyspace=Keyspace1&family=StandardLong1&key=wide";
    let json: serde_json::Value = serde_json::from_str(&found(&mut browser, path).body).unwrap();
    assert_eq!((&json[0]["next"], json[0].get("left_out")), (&"0000000000000064".into(), None));
    let rest = found(&mut browser, &format!("{path}&start=0x0000000000000064"));
    let json: serde_json::Value = serde_json::from_str(&rest.body).unwrap();
    assert_eq!((json[0]["cells"].as_array().map(Vec::len), json[0].get("next")), (Some(50), None));
    admin.server.stop();
}

/// Rows of families that share keys: the author of a post is a key of Authors, and comments have the key of their post.
const KIN: &str = r#"{"column_families": [
  {"keyspace": "BloggyAppy", "name": "Authors", "rows": [
    {"key": "ada", "cells": [{"name": "email", "value": "<b>@x", "timestamp": 1}]}]},
  {"keyspace": "BloggyAppy", "name": "BlogEntries", "rows": [
    {"key": "first-post", "cells": [
      {"name": "author", "value": "ada", "timestamp": 1}, {"name": "body", "value": "bob", "timestamp": 1}]}]},
  {"keyspace": "BloggyAppy", "name": "Comments", "rows": [
    {"key": "first-post", "cells": [
      {"super_column": {"typed": "2d1b8a00-8b95-11de-8a39-0800200c9a66"}, "name": "commenter", "value": "ada", "timestamp": 1}]}]}
]}"#;

#[test]
fn values_lead_to_the_rows_whose_key_they_are() {
    let admin = with_data(&[("kin.json", KIN)]);
    let mut browser = admin.browser();
    let post = found(&mut browser, "/rows?keyspace=BloggyAppy&family=BlogEntries&key=first-post");
    let kin: Vec<&str> = post.body.split("class=\"kin\" href=\"").skip(1).collect();
    assert_eq!(kin.len(), 2, "the key leads to the comments, and the author to Authors: {}", post.body);
    assert!(
        kin[0].contains("Row of Comments with this key") && kin[1].contains("Row of Authors with this key")
    );
    let href = kin[1].split('"').next().unwrap().replace("&#38;", "&");
    has(&found(&mut browser, &href), &["<b>@x", "Row key ada"]);
    let comments = found(&mut browser, "/rows?keyspace=BloggyAppy&family=Comments&key=first-post");
    has(&comments, &["→ BlogEntries", "→ Authors"]);
    admin.server.stop();
}

#[test]
fn rows_and_cells_lead_to_questions_about_them() {
    let admin = with_data(&[("blog.json", BLOG), ("tables.cql", TABLES)]);
    let mut browser = admin.browser();
    for (path, expected) in [
        ("/rows?keyspace=BloggyAppy&family=Authors", "country"),
        ("/rows?keyspace=BloggyAppy&family=Authors&key=Arin+Sarkissian", "arin@digg.com"),
        ("/rows?keyspace=BloggyAppy&family=Comments&key=first-post", "Great!"),
        ("/rows?keyspace=club&family=posts", "Emma"),
        ("/rows?keyspace=club&family=posts&key=austen:1", "Emma"),
        ("/rows?keyspace=club&family=hits&key=home", "42"),
    ] {
        let page = found(&mut browser, path);
        let links = |word: &str| {
            let links =
                page.body.split("<a href=\"").skip(1).filter(|link| link.contains(&format!(">{word}</a>")));
            let links = links.filter(|link| link.split('>').nth(1).unwrap().starts_with(word));
            links
                .map(|link| link.split('"').next().unwrap().replace("&#38;", "&").replace("#answer", ""))
                .collect::<Vec<_>>()
        };
        let (asks, changes) = (links("ask"), links("change"));
        assert!(!asks.is_empty() && asks.len() == links("explain").len(), "{path}: {}", page.body);
        assert!(!changes.is_empty(), "{path}: {}", page.body);
        let mut answers = String::new();
        for ask in &asks {
            answers += &text_of(&found(&mut browser, ask));
        }
        assert!(answers.contains(expected) && answers.contains("What it reads"), "{path}: {answers}");
        for change in changes {
            let form = found(&mut browser, &change);
            let place = path.split("family=").nth(1).unwrap().split('&').next().unwrap();
            has(&form, &[place]);
        }
    }
    admin.server.stop();
}
