//! Reports of whole runs.

use bytes::Bytes;

use super::collect::{Report, ReportSubject, RunKind};
use super::compared::{CallDifference, CallInterface, CallOutcome, ComparedCall, DifferenceKind};
use super::reproduction::{CqlValue, ReproducedCall, ReproducedRequest, Reproduction};
use super::summary::{MissingTable, MissingWrites, Verdict};
use crate::limits::{
    REPORT_CAUSES_MAX, REPORT_CLIENTS_MAX, REPORT_FAMILIES_MAX, REPORT_METHODS_MAX, REPORT_NAME_CHARS_MAX,
};
use base::compat::features::ApiGeneration;

fn report() -> Report {
    Report::new(ReportSubject {
        run: RunKind::Replay,
        recorded: "shop.traffic".to_owned(),
        candidate: "127.0.0.1:9160".to_owned(),
    })
}

fn call<'a>() -> ComparedCall<'a> {
    ComparedCall {
        call: 1,
        at_us: 1_763_900_000_000_000,
        method: "get_slice",
        keyspace: "shop",
        family: "carts",
        interface: CallInterface::Thrift(ApiGeneration::AfterSetKeyspace),
        client: "10.0.0.5",
        is_write: false,
        recorded_us: Some(800),
        candidate_us: Some(300),
        rules: &[],
        outcome: CallOutcome::Equal,
    }
}

fn data<'a>() -> CallDifference<'a> {
    CallDifference {
        kind: DifferenceKind::Data,
        path: "[0].column.value",
        recorded: Some("0x61"),
        candidate: Some("0x62"),
    }
}

fn statement(text: &str) -> Reproduction {
    let request = ReproducedRequest::Cql { statement: text.to_owned(), values: vec![CqlValue::Null] };
    Reproduction {
        calls: vec![ReproducedCall { call: 1, connection: 1, request }],
        command: None,
        is_shortest: false,
    }
}

#[test]
fn outcomes_are_counted_apart() {
    let report = report();
    assert_eq!(report.summary().verdict, Verdict::Nothing);
    report.add(&call());
    report.add(&ComparedCall { rules: &["ttl"], ..call() });
    report.add(&ComparedCall {
        is_write: true,
        outcome: CallOutcome::NotCompared("no recorded reply"),
        ..call()
    });
    report.add_not_compared("not sent", 7);
    assert_eq!(report.summary().verdict, Verdict::Same);
    assert!(!report.has_differences(DifferenceKind::Text));
    // A read that was not sent changes nothing; a write that was not sent may have changed everything.
    report.add(&ComparedCall { outcome: CallOutcome::NotSent("behind"), ..call() });
    assert_eq!(report.summary().verdict, Verdict::Same);
    report.add(&ComparedCall { is_write: true, outcome: CallOutcome::NotSent("behind"), ..call() });
    let summary = report.summary();
    assert_eq!(summary.verdict, Verdict::Incomplete);
    assert_eq!(
        summary.verdict.headline(&summary),
        "No differences in 2 calls, and 1 write missing from the candidate"
    );

    let text = CallDifference {
        kind: DifferenceKind::Text,
        path: "",
        recorded: Some("E: a"),
        candidate: Some("E: b"),
    };
    assert!(report.add(&ComparedCall { outcome: CallOutcome::Differs(text), ..call() }).is_some());
    assert!(
        report.has_differences(DifferenceKind::Text) && !report.has_differences(DifferenceKind::Exception)
    );
    let cause = report.add(&ComparedCall { outcome: CallOutcome::Differs(data()), ..call() }).unwrap();
    assert!(report.has_differences(DifferenceKind::Data));
    report.set_reproduction(cause, statement("SELECT 1"));
    assert_eq!(report.add(&ComparedCall { outcome: CallOutcome::Differs(data()), ..call() }), None);

    let summary = report.summary();
    assert_eq!(summary.verdict, Verdict::Differs);
    assert_eq!(
        summary.verdict.headline(&summary),
        "3 of 5 calls differ, from 2 causes, and 1 write missing from the candidate"
    );
    let calls = summary.calls;
    assert_eq!((calls.total, calls.reads, calls.writes, calls.compared), (15, 6, 2, 5));
    assert_eq!((calls.equal, calls.equal_by_rules, calls.data, calls.exception, calls.text), (1, 1, 2, 0, 1));
    assert_eq!(calls.equal + calls.equal_by_rules + calls.differences + calls.not_compared, calls.total);
    let causes: Vec<_> =
        summary.causes.iter().map(|cause| (cause.id.as_str(), cause.kind, cause.calls)).collect();
    assert_eq!(causes, [("D1", DifferenceKind::Data, 2), ("D2", DifferenceKind::Text, 1)]);
}

#[test]
fn a_shorter_reproduction_replaces_a_longer_one() {
    let report = report();
    let cause = report.add(&ComparedCall { outcome: CallOutcome::Differs(data()), ..call() }).unwrap();
    let of = |calls: u64, is_shortest| {
        let one = statement("SELECT 1").calls.remove(0);
        let calls = (0..calls).map(|call| ReproducedCall { call, ..one.clone() }).collect();
        Reproduction { calls, command: None, is_shortest }
    };
    let length = |report: &Report| report.summary().causes[0].reproduction.as_ref().unwrap().calls.len();
    for (calls, is_shortest, expected) in
        [(9, false, 9), (4, false, 4), (6, false, 4), (5, true, 5), (2, false, 5)]
    {
        report.set_reproduction(cause, of(calls, is_shortest));
        assert_eq!(length(&report), expected);
    }
    report.set_reproduction(cause, of(3, true));
    assert_eq!(length(&report), 3);
}

#[test]
fn memory_is_bounded_however_many_names_there_are() {
    let report = report();
    for number in 0..5_000u64 {
        // A name of 64 KB differs only at its end.
        let long = format!("{}{number}", "x".repeat(64 * 1024));
        let distinct = format!("{number}-{long}");
        let path = format!("a{number}.{long}");
        let difference = CallDifference { path: &path, recorded: Some(&long), ..data() };
        let cause = report.add(&ComparedCall {
            method: &distinct,
            family: &distinct,
            client: &distinct,
            outcome: CallOutcome::Differs(difference),
            ..call()
        });
        if let Some(cause) = cause {
            report.set_reproduction(cause, statement(&long));
        }
    }
    let summary = report.summary();
    assert_eq!(summary.calls.total, 5_000);
    assert_eq!(summary.causes.len(), REPORT_CAUSES_MAX);
    assert_eq!(summary.unlisted_differences, 5_000 - REPORT_CAUSES_MAX as u64);
    // Each table has one entry more, for all others.
    assert_eq!(summary.methods.len(), REPORT_METHODS_MAX + 1);
    assert_eq!(summary.families.len(), REPORT_FAMILIES_MAX + 1);
    assert_eq!(summary.clients.len(), REPORT_CLIENTS_MAX + 1);
    let counted: u64 = summary.methods.iter().map(|method| method.counts.calls).sum();
    assert_eq!(counted, 5_000);
    assert!(
        summary.methods.iter().all(|method| method.counts.name.chars().count() < REPORT_NAME_CHARS_MAX + 30)
    );
    assert!(summary.html().len() < 12 * 1024 * 1024, "{}", summary.html().len());
    assert!(summary.text().len() < 1024 * 1024, "{}", summary.text().len());
}

/// Names and answers that try to change the page or the terminal.
const HOSTILE: [&str; 9] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</style></pre><b>bold</b>",
    "&lt;already&gt;",
    "\u{1b}[31mred\u{7}\u{0}",
    "\u{202e}gnp.exe\u{2066}",
    "שלום עולם",
    "a\r\nb\tc\u{2028}d",
];

fn hostile() -> Report {
    let report = Report::new(ReportSubject {
        run: RunKind::Shadow,
        recorded: HOSTILE[0].to_owned(),
        candidate: HOSTILE[6].to_owned(),
    });
    // A name that is not UTF-8 reaches the report as the caller decodes it.
    let invalid = String::from_utf8_lossy(b"\xff\xfe\xc3").into_owned();
    for name in HOSTILE.into_iter().chain([invalid.as_str()]) {
        report.explain_rule(name, name);
        for kind in DifferenceKind::ALL.iter().copied() {
            let difference = CallDifference { kind, path: name, recorded: Some(name), candidate: Some(name) };
            let cause = report.add(&ComparedCall {
                method: name,
                keyspace: name,
                family: name,
                client: name,
                rules: &[name],
                outcome: CallOutcome::Differs(difference),
                ..call()
            });
            let mut reproduction = statement(name);
            reproduction.command = Some(name.to_owned());
            let bytes = CqlValue::Bytes(Bytes::copy_from_slice(name.as_bytes()));
            let cql = ReproducedRequest::Cql { statement: name.to_owned(), values: vec![bytes] };
            let thrift = ReproducedRequest::Thrift(Bytes::copy_from_slice(name.as_bytes()));
            let others = [cql, thrift, ReproducedRequest::Other(name.to_owned())];
            reproduction.calls.extend(others.map(|request| ReproducedCall {
                call: 2,
                connection: 1,
                request,
            }));
            report.set_reproduction(cause.unwrap(), reproduction);
        }
        report.add(&ComparedCall { outcome: CallOutcome::NotCompared(name), ..call() });
    }
    report
}

#[test]
fn hostile_texts_change_neither_page_nor_terminal() {
    let table = MissingTable {
        table: "<i>k</i>.t".to_owned(),
        reason: "the other server refused the write".to_owned(),
        error: "<script>alert(2)</script>".to_owned(),
        writes: 3,
    };
    let missing =
        MissingWrites { sent: 1, unsent: 2, trouble: Some("<b>full</b>".to_owned()), tables: vec![table] };
    let summary = hostile().summary().with_missing(missing);
    let (html, text) = (summary.html(), summary.text());
    for shown in ["&lt;i&gt;k&lt;/i&gt;.t", "&lt;script&gt;alert(2)", "&lt;b&gt;full", "Not sent: 2."] {
        assert!(html.contains(shown), "{shown}");
    }
    for (name, written) in [("html", &html), ("text", &text)] {
        let bad = written.chars().find(|letter| *letter != '\n' && base::util::is_invisible(*letter));
        assert_eq!(bad, None, "{name}");
    }
    let tags = tags_of(&html);
    for (tag, attributes) in &tags {
        assert!(KNOWN_TAGS.contains(&tag.as_str()), "<{tag} {attributes}>");
        assert!(
            !attributes.contains("onerror") && !attributes.contains("onmouseover"),
            "<{tag} {attributes}>"
        );
    }
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && html.contains("שלום עולם"));
    assert!(html.contains("&amp;lt;already&amp;gt;"));
    // Nothing on the page is read from elsewhere.
    assert!(
        !html.contains("src=\"")
            && !html.contains("url(")
            && !html.contains("http:")
            && !html.contains("https:")
    );
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["recorded"], HOSTILE[0]);
}

/// The elements that a page uses. A test of a page that has others was changed by its data.
const KNOWN_TAGS: [&str; 48] = [
    "!DOCTYPE",
    "a",
    "article",
    "b",
    "bdi",
    "body",
    "caption",
    "code",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "head",
    "header",
    "html",
    "i",
    "li",
    "main",
    "meta",
    "nav",
    "ol",
    "p",
    "path",
    "pre",
    "section",
    "small",
    "span",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
    "link",
    "small",
];

/// Returns the opening tags of a page with their attributes, and checks that each element is closed in order.
fn tags_of(html: &str) -> Vec<(String, String)> {
    let (mut tags, mut open) = (Vec::new(), Vec::new());
    for part in html.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("each < begins a tag");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "{part:.60}");
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        // Quotes inside of a tag belong to its attributes.
        assert_eq!(attributes.matches('"').count() % 2, 0, "{tag}");
        assert_eq!(attributes.matches('"').count() / 2, attributes.matches("=\"").count(), "{tag}");
        let has_end = !["!DOCTYPE", "meta"].contains(&name) && !attributes.ends_with('/');
        if has_end {
            open.push(name.to_owned());
        }
        tags.push((name.to_owned(), attributes.to_owned()));
    }
    assert!(open.is_empty(), "{open:?} are not closed");
    tags
}

#[test]
fn ids_are_unique_and_links_lead_to_them() {
    let html = hostile().summary().html();
    let tags = tags_of(&html);
    let of = |attribute: &str| -> Vec<String> {
        let values = tags.iter().filter_map(|(_, attributes)| {
            let (_, rest) = attributes.split_once(&format!("{attribute}=\""))?;
            rest.split_once('"').map(|(value, _)| value.to_owned())
        });
        values.collect()
    };
    let mut ids = of(" id");
    ids.extend(tags.iter().filter_map(|(_, attributes)| {
        attributes.strip_prefix("id=\"")?.split_once('"').map(|(id, _)| id.to_owned())
    }));
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id is repeated");
    for link in of("href")
        .iter()
        .filter_map(|link| link.strip_prefix('#'))
        .chain(of("aria-labelledby").iter().map(String::as_str))
    {
        assert!(ids.iter().any(|id| id == link), "nothing has the id {link}");
    }
}

#[test]
fn a_reproduction_is_code_of_each_language() {
    use crate::{Fields, ThriftMessage, Value};
    use wire::thrift::MessageKind;

    let text = |text: &'static [u8]| Value::Binary(Bytes::from_static(text));
    let parent = Value::Struct(Fields::from([(3, text(b"carts"))]));
    let column = Fields::from([
        (1, text("tea\u{202e}\"".as_bytes())),
        (2, text(b"\x00\xff")),
        (3, Value::I64(i64::MAX)),
    ]);
    let fields =
        Fields::from([(1, text(b"ada")), (2, parent), (3, Value::Struct(column)), (4, Value::I32(2))]);
    let message = ThriftMessage { name: "insert".into(), kind: MessageKind::Call, seqid: 0, fields };
    let calls = [7, 9].map(|connection| ReproducedCall {
        call: connection,
        connection,
        request: ReproducedRequest::Thrift(message.write()),
    });
    let code = super::code::snippets(&Reproduction { calls: calls.into(), command: None, is_shortest: true });
    let of = |language: &str| -> &str {
        code.iter().find(|snippet| snippet.language.starts_with(language)).map_or("", |snippet| &snippet.text)
    };
    for (language, call) in [
        (
            "Python",
            r#"print(client2.insert(b"ada", ColumnParent(column_family="carts"), Column(name=b"tea\xe2\x80\xae\"", value=b"\x00\xff", timestamp=9223372036854775807), ConsistencyLevel.QUORUM))"#,
        ),
        (
            "Java",
            r#"client2.insert(text("ada"), new ColumnParent().setColumn_family("carts"), new Column().setName(text("tea\u202e\"")).setValue(hex("00ff")).setTimestamp(9223372036854775807L), ConsistencyLevel.QUORUM);"#,
        ),
        (
            "Node",
            r#"console.log(await client2.insert(Buffer.from("ada"), new types.ColumnParent({ column_family: "carts" }), new types.Column({ name: Buffer.from("tea\u202e\""), value: Buffer.from('00ff', 'hex'), timestamp: new Int64('7fffffffffffffff') }), types.ConsistencyLevel.QUORUM));"#,
        ),
        (
            "Go",
            r#"fmt.Println(client2.Insert(ctx, []byte("ada"), &cassandra.ColumnParent{ColumnFamily: "carts"}, &cassandra.Column{Name: []byte("tea\U0000202e\""), Value: []byte("\U00000000\xff"), Timestamp: thrift.Pointer(int64(9223372036854775807))}, cassandra.ConsistencyLevel_QUORUM))"#,
        ),
    ] {
        assert!(of(language).contains(call), "{language}:\n{}", of(language));
    }
    let line: serde_json::Value = serde_json::from_str(of("Lines").lines().next().unwrap()).unwrap();
    assert_eq!((&line["m"], &line["c"]), (&"insert".into(), &7.into()));
}

#[test]
fn each_field_of_the_json_is_documented() {
    let page = include_str!("../../../../docs/traffic.md");
    let table = page.split_once("The JSON has these fields").unwrap().1;
    let json = serde_json::to_value(hostile().summary()).unwrap();
    let nested = ["calls", "latency"].map(|field| &json[field]);
    let of_lists = ["causes", "methods", "families", "rules", "not_compared"].map(|field| &json[field][0]);
    for object in [&json].into_iter().chain(nested).chain(of_lists).chain([&json["latency"]["recorded"]]) {
        for field in object.as_object().unwrap().keys() {
            assert!(table.contains(&format!("`{field}`")), "docs/traffic.md does not have {field}");
        }
    }
}
