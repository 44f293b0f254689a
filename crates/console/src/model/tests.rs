//! Tests of whole sketches: a script of a model defines the same as the model.

use proptest::prelude::*;

use super::examples::EXAMPLES;
use super::script::Script;
use super::shown_model::ShownModel;
use super::sketch::{Area, OpenSketch, Sketch, SketchLanguage};
use super::{family, sketch_runs, storage_conf_text};
use crate::limits::{SKETCH_FAMILIES_MAX, SKETCH_TEXT_BYTES_MAX};
use base::marshal::Types;
use base::model::{Cell, RowColumns};

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(work)
}

fn sketch(language: SketchLanguage, definition: &str, data: &str) -> Sketch {
    let data_language =
        if language == SketchLanguage::StorageConf { SketchLanguage::CassandraCli } else { language };
    Sketch { language, definition: definition.to_owned(), data_language, data: data.to_owned() }
}

fn shown(sketch: &Sketch) -> ShownModel {
    block_on(sketch_runs::show(sketch, &Types::builtin()))
}

fn script<'m>(model: &'m ShownModel, anchor: &str) -> &'m Script {
    model.scripts.iter().find(|script| script.anchor == anchor).unwrap()
}

/// A column family with its cells: one line for its definition, and one for each cell without its timestamp.
type FamilyText = (String, Vec<String>);

/// The contents of a sketch, by form.
struct Contents {
    /// The definitions of storage-conf.xml.
    of_storage_conf: Vec<String>,
    /// The definitions and cells of cassandra-cli.
    of_cassandra_cli: Vec<FamilyText>,
    /// The statements of each keyspace, and the rows of each table.
    of_cql: (Vec<String>, Vec<String>),
}

fn cell_text(path: &str, cell: &Cell) -> String {
    format!(
        "{path} {:02x?} {:02x?} {:?}",
        &cell.name[..],
        &cell.value[..],
        std::mem::discriminant(&cell.kind)
    )
}

async fn cells_of(open: &OpenSketch, cf: &std::sync::Arc<base::schema::CfDef>) -> Vec<String> {
    let (rows, is_cut) = family::read_rows(open, cf).await.unwrap();
    assert!(!is_cut);
    let mut found = Vec::new();
    for row in rows {
        let key = format!("{:02x?}", &row.key[..]);
        match &row.columns {
            RowColumns::Cells(cells) => found.extend(cells.iter().map(|cell| cell_text(&key, cell))),
            RowColumns::Supers(supers) => found.extend(supers.iter().flat_map(|holder| {
                let path = format!("{key} {:02x?}", &holder.name[..]);
                holder.cells.iter().map(move |cell| cell_text(&path, cell)).collect::<Vec<_>>()
            })),
        }
    }
    found
}

fn contents(sketch: &Sketch) -> Contents {
    block_on(async {
        let open = OpenSketch::new(sketch, &Types::builtin()).unwrap();
        open.run(sketch).await.unwrap_or_else(|error| panic!("{error:?}\n{}", sketch.definition));
        let catalog = open.catalog();
        let mut contents = Contents {
            of_storage_conf: Vec::new(),
            of_cassandra_cli: Vec::new(),
            of_cql: Default::default(),
        };
        let state = open.state();
        for keyspace in catalog.keyspaces.values() {
            let statements = cql::definitions_of(&state, keyspace).into_iter();
            contents.of_cql.0.extend(statements.filter(|statement| !statement.starts_with("/*")));
            for cf in keyspace.column_families.values() {
                let (name, comparator, ..) = storage_conf_text::compared(cf);
                contents.of_storage_conf.push(format!(
                    "{} {name} {comparator} {:?}",
                    keyspace.name,
                    storage_conf_text::compared(cf)
                ));
                let columns: Vec<String> = cf
                    .column_metadata
                    .values()
                    .map(|column| {
                        format!("{:?} {} {:?}", column.name, column.validator.class_name(), column.index)
                    })
                    .collect();
                let key = cf.key_validator.as_ref().map(|validator| validator.class_name().to_owned());
                let definition = format!(
                    "{:?} {} {key:?} {columns:?} {} {:?}",
                    storage_conf_text::compared(cf),
                    cf.default_validator.class_name(),
                    cf.gc_grace_s,
                    cf.settings
                );
                contents.of_cassandra_cli.push((definition, cells_of(&open, cf).await));
                let (rows, _) = super::cql_text::table_rows(&state, cf).await.unwrap();
                contents.of_cql.1.extend(rows.rows.iter().map(|row| format!("{} {row:02x?}", cf.name)));
            }
        }
        open.close().await;
        contents
    })
}

/// Reads each script of a sketch as a sketch of its own, and compares it with the first. Column families that a script
/// leaves out are missing in it.
fn check_scripts(first: &Sketch) -> ShownModel {
    let model = shown(first);
    assert!(model.errors.is_empty(), "{:?}", model.errors);
    let before = contents(first);
    let left_out =
        |anchor: &str| script(&model, anchor).lost.iter().filter(|lost| lost.contains(": left out.")).count();

    let text = &script(&model, "storage-conf").text;
    let again = contents(&sketch(SketchLanguage::StorageConf, text, ""));
    assert_eq!(
        again.of_storage_conf.len() + left_out("storage-conf"),
        before.of_storage_conf.len(),
        "{text}"
    );
    for family in &again.of_storage_conf {
        assert!(before.of_storage_conf.contains(family), "{family}\n{:#?}", before.of_storage_conf);
    }

    let text = &script(&model, "cassandra-cli").text;
    let again = contents(&sketch(SketchLanguage::CassandraCli, text, ""));
    assert_eq!(
        again.of_cassandra_cli.len() + left_out("cassandra-cli"),
        before.of_cassandra_cli.len(),
        "{text}"
    );
    for (family, cells) in &again.of_cassandra_cli {
        let same = before.of_cassandra_cli.iter().find(|(other, _)| other == family);
        let (_, expected) =
            same.unwrap_or_else(|| panic!("{family}\n{:#?}\n{text}", before.of_cassandra_cli));
        let (mut cells, mut expected) = (cells.clone(), expected.clone());
        cells.sort();
        expected.sort();
        assert_eq!(cells, expected, "{text}");
    }

    let text = &script(&model, "cql").text;
    let again = contents(&sketch(SketchLanguage::Cql, text, ""));
    assert_eq!(again.of_cql.0, before.of_cql.0);
    for row in &again.of_cql.1 {
        assert!(before.of_cql.1.contains(row), "{row}\n{text}");
    }
    if left_out("cql") == 0 {
        assert_eq!(again.of_cql.1.len(), before.of_cql.1.len(), "{text}");
    }
    model
}

#[test]
fn scripts_of_the_examples_make_the_same_model() {
    for example in &EXAMPLES {
        let model = check_scripts(&example.sketch());
        assert!(!model.families.is_empty(), "{}", example.id);
        for family in &model.families {
            assert!(!family.rows.is_empty() && !family.queries.is_empty(), "{} {}", example.id, family.name);
        }
    }
}

#[test]
fn scripts_of_column_families_of_all_kinds_make_the_same_model() {
    let definition = "create keyspace 'A' with strategy_options = {replication_factor: 2} and durable_writes = false;
        use 'A';
        create column family Users with comparator = UTF8Type and key_validation_class = LongType
          and default_validation_class = BytesType and comment = 'it\\'s <b>\"quoted\"</b> & \\\\' and gc_grace = 7
          and read_repair_chance = 0.5 and compression_options = {sstable_compression: SnappyCompressor}
          and column_metadata = [{column_name: email, validation_class: UTF8Type, index_type: KEYS, index_name: by_email},
            {column_name: 'two words', validation_class: Int32Type}];
        create column family Wide with comparator = 'CompositeType(LongType, ReversedType(UTF8Type))'
          and default_validation_class = UTF8Type;
        create column family Reversed with comparator = 'ReversedType(TimeUUIDType)';
        create column family Counts with comparator = UTF8Type and default_validation_class = CounterColumnType;
        create column family SuperCounts with column_type = Super and comparator = LongType and subcomparator = UTF8Type
          and default_validation_class = CounterColumnType;
        create column family Super1 with column_type = Super and comparator = LongType and subcomparator = BytesType;";
    let data = "set Users[-7][email] = 'a@example.com'; set Users[-7]['two words'] = 5; set Users[8][\\u00e9] = 'cafe';
        set Users[8]['x\\n\\'y'] = utf8('cafe') with ttl = 3600; set Users[9][email] = '';
        set Wide[k]['5:a\\\\:b'] = v; set Reversed[k]['2d1b8a00-8b95-11de-8a39-0800200c9a66'] = x;
        incr Counts[k][n] by -3; incr SuperCounts[k][1][n]; set Super1['00ff'][-2]['00'] = 'ff';";
    let data = data.replace("[\\u00e9]", "['\\u00e9']");
    let model = check_scripts(&sketch(SketchLanguage::CassandraCli, definition, &data));
    assert_eq!(model.families.len(), 6);
    let lost = script(&model, "storage-conf").lost.join("\n");
    for what in ["Counts: left out. Counters came with 0.8.", "Users: indexes came with 0.7."] {
        assert!(lost.contains(what), "{lost}");
    }
}

#[test]
fn scripts_of_tables_of_all_kinds_make_the_same_model() {
    let definition = "CREATE TYPE \"Ad dress\" (street text, \"No\" int);
        CREATE TABLE \"All\" (a int, \"B b\" text, c timestamp, s text static, l list<int>, m map<text, blob>, t set<uuid>,
          u frozen<\"Ad dress\">, p tuple<int, text>, d double, n decimal, v varint, i inet, b boolean,
          PRIMARY KEY ((a, \"B b\"), c)) WITH CLUSTERING ORDER BY (c DESC) AND comment = 'it''s' AND gc_grace_seconds = 5;
        CREATE INDEX ON \"All\" (d);
        CREATE TABLE counts (k text PRIMARY KEY, n counter, o counter);
        CREATE TABLE dense (k text, c1 int, c2 text, v blob, PRIMARY KEY (k, c1, c2)) WITH COMPACT STORAGE;
        CREATE TABLE plain (k text PRIMARY KEY, v1 int, v2 text) WITH COMPACT STORAGE;";
    let data = "INSERT INTO \"All\" (a, \"B b\", c, s, l, m, t, u, p, d, n, v, i, b) VALUES (1, 'x''y',
          '2014-01-02 03:04:05.678+0000', 'st', [3, 1], {'k': 0x00ff}, {99051fe9-6a9c-46c2-b949-38ef78858dd0},
          {street: 'Main', \"No\": 12}, (5, 'five'), 0.1, 1.50, -7, '192.0.2.7', true);
        INSERT INTO \"All\" (a, \"B b\", s) VALUES (2, '', 'only static');
        UPDATE counts SET n = n - 3, o = o + 1 WHERE k = 'a';
        INSERT INTO dense (k, c1, c2, v) VALUES ('a', -1, 'z', 0xcafe);
        INSERT INTO plain (k, v1) VALUES ('a', 1);";
    let model = check_scripts(&sketch(SketchLanguage::Cql, definition, data));
    assert!(script(&model, "cql").lost.iter().all(|lost| lost.starts_with("Timestamps")), "{model:?}");
}

#[test]
fn errors_have_their_place() {
    let place = |sketch: Sketch| {
        let errors = shown(&sketch).errors;
        let [error, ..] = &errors[..] else { panic!("no error: {sketch:?}") };
        (error.area, error.line, error.column, error.message.clone())
    };
    let (area, line, column, message) = place(sketch(
        SketchLanguage::StorageConf,
        "\n<Keyspace Name='A'>\n  <ColumnFamily Name='a-b'/>\n</Keyspace>",
        "",
    ));
    assert_eq!((area, line, column), (Area::Definition, Some(3), Some(23)), "{message}");
    let cql = "CREATE TABLE a (k int PRIMARY KEY);\nCREATE TABEL b (k int PRIMARY KEY);";
    let (area, line, column, message) = place(sketch(SketchLanguage::Cql, cql, ""));
    assert_eq!((area, line, column), (Area::Definition, Some(2), Some(8)), "{message}");
    let cli = "create column family A;\n";
    let (area, line, column, message) =
        place(sketch(SketchLanguage::CassandraCli, cli, "set A[k][n] = 1;\n  set B[k][n] = 1;"));
    assert_eq!((area, line, column), (Area::Data, Some(2), Some(3)), "{message}");
    assert!(message.contains("there is no column family sketch.B"), "{message}");
    let in_xml = Sketch {
        data_language: SketchLanguage::StorageConf,
        ..sketch(SketchLanguage::Cql, "", "<Storage/>")
    };
    assert!(place(in_xml).3.contains("holds no data"));
    // Definitions before the mistake are shown.
    assert_eq!(shown(&sketch(SketchLanguage::Cql, cql, "")).families.len(), 1);
}

#[test]
fn sketches_are_limited() {
    let errors = |sketch: &Sketch| shown(sketch).errors;
    let long = " ".repeat(SKETCH_TEXT_BYTES_MAX + 1);
    let too_long = errors(&sketch(SketchLanguage::Cql, &long, &long));
    assert_eq!(too_long.iter().map(|error| error.area).collect::<Vec<_>>(), [Area::Definition, Area::Data]);
    assert!(errors(&sketch(SketchLanguage::Cql, &long[1..], "")).is_empty());
    let tables =
        |count: usize| -> String { (0..count).map(|at| format!("create column family F{at};\n")).collect() };
    assert!(errors(&sketch(SketchLanguage::CassandraCli, &tables(SKETCH_FAMILIES_MAX), "")).is_empty());
    let many = errors(&sketch(SketchLanguage::CassandraCli, &tables(SKETCH_FAMILIES_MAX + 1), ""));
    assert!(many[0].message.contains("a sketch has at most"), "{many:?}");
    let shown = shown(&sketch(SketchLanguage::CassandraCli, &tables(SKETCH_FAMILIES_MAX + 1), ""));
    assert!(shown.families.is_empty());
}

#[test]
fn a_sketch_reads_nothing_of_the_server() {
    let model =
        shown(&sketch(SketchLanguage::Cql, "SELECT * FROM system.local; SELECT * FROM elsewhere.t;", ""));
    assert!(model.errors[0].message.contains("elsewhere"), "{:?}", model.errors);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_come_back_from_cassandra_cli(
        cells in prop::collection::vec(
            (prop::collection::vec(any::<u8>(), 1..5), prop::collection::vec(any::<u8>(), 1..5), prop::collection::vec(any::<u8>(), 0..5)),
            1..6,
        ),
        texts in prop::collection::vec(any::<String>(), 1..4),
    ) {
        use base::util::hex;
        let mut data = String::new();
        for (key, name, value) in &cells {
            let (key, name, value) = (hex(key), hex(name), hex(value));
            data.push_str(&format!("set B[bytes('{key}')][bytes('{name}')] = bytes('{value}');\n"));
        }
        for text in texts.iter().filter(|text| !text.is_empty()) {
            let text = hex(text.as_bytes());
            data.push_str(&format!("set T[bytes('{text}')][bytes('{text}')] = bytes('{text}');\n"));
        }
        let definition = "create column family B; create column family T with comparator = UTF8Type and
            key_validation_class = UTF8Type and default_validation_class = UTF8Type;";
        check_scripts(&sketch(SketchLanguage::CassandraCli, definition, &data));
    }
}
