//! The configuration: scripts with files and the results of loading them, the sample file, the tables of the
//! documentation, and randomly damaged files.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

use std::cmp::Ordering;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use base::marshal::{AbstractType, MarshalError, Types};
use base::util::Release;
use config::{Config, ConfigSetting, NameKind, Note, Releases, Timeouts, settings_of};
use proptest::prelude::*;

/// If this environment variable is set, expected texts are written instead of compared.
const REWRITE: &str = "REWRITE";

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Compares a file with its expected text, or writes that text.
fn check(path: &Path, expected: &str) {
    if env::var_os(REWRITE).is_some() {
        fs::write(path, expected).unwrap();
        return;
    }
    let found = fs::read_to_string(path).unwrap();
    let name = path.display();
    assert!(found == expected, "{name} has:\n{found}\nexpected ({REWRITE}=1 writes it):\n{expected}");
}

/// Returns the summary that a script has for a valid configuration.
fn summary(config: &Config) -> String {
    // A new setting is printed below.
    let Config {
        cluster_name: _,
        catalog: _,
        partitioner: _,
        initial_token: _,
        authenticator: _,
        authority: _,
        commit_log_sync: _,
        commit_log_directory: _,
        data_directories: _,
        unused_directories: _,
        listen_address: _,
        thrift_address: _,
        thrift_port: _,
        thrift_framed: _,
        expected_generation: _,
        native_transport: _,
        native_address: _,
        native_port: _,
        client_encryption: _,
        needs_tls: _,
        cluster: _,
        timeouts: _,
        gc_grace_s: _,
        seeds: _,
        release_hint: _,
        notes: _,
        text: _,
    } = config;
    let mut out = String::new();
    let mut line = |name: &str, value: String| writeln!(out, "{name}: {value}").unwrap();
    line("cluster", config.cluster_name.clone());
    line("partitioner", config.partitioner.class_name().to_owned());
    line("token", format!("{:?}", config.initial_token));
    line("authenticator", format!("{:?}", config.authenticator));
    line("sync", format!("{:?}", config.commit_log_sync));
    line("directories", format!("{:?} {:?}", config.commit_log_directory, config.data_directories));
    line(
        "listens",
        format!("{}:{} framed {}", config.thrift_host(), config.thrift_port, config.thrift_framed),
    );
    let native = format!("{} {}:{}", config.native_transport, config.native_host(), config.native_port);
    if native != format!("true {}:9042", config.thrift_host()) {
        line("native", native);
    }
    if let Some(encryption) = &config.client_encryption {
        line("encryption", format!("{encryption:?}"));
    }
    if let Some(cluster) = &config.cluster {
        line("cluster behind", format!("{cluster:?}"));
    }
    let timeout = config.timeouts.all_ms.map_or("none".to_owned(), |limit| format!("{limit} ms"));
    if config.timeouts != (Timeouts { all_ms: config.timeouts.all_ms, ..Timeouts::default() }) {
        line("timeouts", format!("{:?}", config.timeouts));
    }
    if !config.unused_directories.is_empty() || config.needs_tls {
        line("unused", format!("{:?} needs TLS {}", config.unused_directories, config.needs_tls));
    }
    line("timeout", format!("{timeout}, gc grace {} s", config.gc_grace_s));
    line("seeds", format!("{:?}", config.seeds));
    line("release", config.release_hint.map_or("any".to_owned(), |release| release.to_string()));
    for keyspace in config.catalog.keyspaces.values() {
        let label = if keyspace.row_key_label == "ROW_KEY" { "" } else { &keyspace.row_key_label };
        let (factor, class) = (keyspace.replication_factor, &keyspace.strategy_class);
        line("keyspace", format!("{} {factor} {class} {label}", keyspace.name).trim_end().to_owned());
        for family in keyspace.column_families.values() {
            let mut text =
                format!("{} {} {}", family.name, family.type_name(), family.comparator.class_name());
            if let Some(subcomparator) = family.subcomparator() {
                write!(text, " {}", subcomparator.class_name()).unwrap();
            }
            if family.flush_period_minutes != 0 {
                write!(text, " flush {}", family.flush_period_minutes).unwrap();
            }
            if family.labels != Default::default() {
                write!(text, " {:?}", family.labels).unwrap();
            }
            if let Some(comment) = &family.comment {
                write!(text, " {comment:?}").unwrap();
            }
            if family.gc_grace_s != config.gc_grace_s {
                write!(text, " gc grace {} s", family.gc_grace_s).unwrap();
            }
            for column in family.column_metadata.values() {
                let name = String::from_utf8_lossy(&column.name);
                write!(text, " {name}: {}", column.validator.class_name()).unwrap();
            }
            if !family.settings.is_empty() {
                write!(text, " {:?}", family.settings).unwrap();
            }
            assert_eq!(&family.keyspace, &keyspace.name);
            line("  family", text);
        }
    }
    for Note { text, is_warning } in &config.notes {
        line(if *is_warning { "warning" } else { "note" }, text.clone());
    }
    out
}

/// A script has a configuration file, `---`, and the summary or the errors. In a script of a cassandra.yaml, which may have
/// `---` itself, the separator is `=====`.
#[test]
fn each_script_has_the_result_of_loading_its_file() {
    let mut scripts: Vec<PathBuf> =
        fs::read_dir(repository().join("tests/config")).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.sort();
    assert!(scripts.len() > 10);
    for path in scripts {
        let script = fs::read_to_string(&path).unwrap();
        let is_yaml = path.file_name().unwrap().to_string_lossy().starts_with("yaml_");
        let (name, end) =
            if is_yaml { ("cassandra.yaml", "\n=====\n") } else { ("storage-conf.xml", "\n---\n") };
        let (given, _) = script.split_once(end).unwrap_or((script.trim_end(), ""));
        let outcome = match config::parse(given, name, &Types::builtin()) {
            Ok(config) => summary(&config),
            Err(errors) => format!("{errors}\n"),
        };
        check(&path, &format!("{given}{end}{outcome}"));
    }
}

/// The sample file has no unknown or ignored element.
#[test]
fn the_sample_loads_without_a_note() {
    let config = config::parse(config::DEFAULT, "storage-conf.xml", &Types::builtin()).unwrap();
    assert_eq!(config.notes, []);
    assert_eq!(config.text, config::DEFAULT);
    let names: Vec<&String> = config.catalog.keyspaces.keys().collect();
    assert_eq!(names, ["BloggyAppy", "Keyspace1"]);
    assert_eq!((config.thrift_host(), config.thrift_port), ("127.0.0.1", 9160));
    let from_disk = config::load(&repository().join("storage-conf.xml"), &Types::builtin()).unwrap();
    assert_eq!(summary(&from_disk), summary(&config));
}

/// Returns the releases that have a setting in words.
fn releases_of(releases: Releases, name: &str) -> String {
    let Some(span) = releases else { return "thriftstore".to_owned() };
    let all: Vec<Release> = Release::ALL.into_iter().filter(|release| span.has(*release)).collect();
    match &all[..] {
        [only] => only.to_string(),
        [first, .., last] => format!("{first} to {last}"),
        [] => panic!("{name} is of no release"),
    }
}

/// Settings that clients see, and that change nothing else.
const SHOWN: &str = "Only shown to clients.";

/// Returns a table of the settings of cassandra.yaml that have an effect, and the names of those that are only shown.
fn yaml_table(rows: &[ConfigSetting]) -> String {
    let mut out = "| name | releases | default | meaning |\n|---|---|---|---|\n".to_owned();
    let mut shown = Vec::new();
    for row in rows.iter().filter(|row| !row.is_ignored) {
        let Some(own) = row.name(NameKind::Key) else { continue };
        let (name, releases) = (own.name, releases_of(own.releases, own.name));
        if row.meaning == SHOWN {
            shown.push(format!("`{name}`"));
            continue;
        }
        let (default, meaning) = (row.yaml_default.unwrap_or(row.default), row.meaning);
        writeln!(out, "| `{name}` | {releases} | {default} | {meaning} |").unwrap();
    }
    if !shown.is_empty() {
        writeln!(out, "\nOnly shown to clients: {}.", shown.join(", ")).unwrap();
    }
    out
}

/// Returns a table of elements or attributes of storage-conf.xml, and the names of those without an effect.
fn table(rows: &[ConfigSetting], kind: NameKind) -> String {
    let mut out = "| name | releases | default | meaning |\n|---|---|---|---|\n".to_owned();
    let mut ignored = Vec::new();
    for row in rows {
        let Some(own) = row.name(kind) else { continue };
        let (name, releases) = (own.name, releases_of(own.releases, own.name));
        if row.is_ignored {
            ignored.push(format!("`{name}`"));
            continue;
        }
        let is_number = row.default.parse::<u64>().is_ok();
        let is_time = ["ms", "s", "min"].contains(&row.unit);
        let unit = if is_number && is_time { row.unit } else { "" };
        let default = format!("{} {unit}", row.default);
        writeln!(out, "| `{name}` | {releases} | {} | {} |", default.trim(), row.meaning).unwrap();
    }
    if !ignored.is_empty() {
        writeln!(out, "\nWithout an effect: {}.", ignored.join(", ")).unwrap();
    }
    out
}

/// Replaces the text between two comments of a document.
fn replace_part(document: &str, name: &str, part: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = document.split_once(&begin).unwrap_or_else(|| panic!("no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("no {end}"));
    format!("{before}{begin}\n{part}\n{end}{after}")
}

const EXAMPLE: &str = "<Storage>
  <Keyspaces>
    <Keyspace Name=\"BloggyAppy\">
      <ColumnFamily Name=\"BlogEntries\" CompareWith=\"UTF8Typ\"/>
    </Keyspace>
  </Keyspaces>
</Storage>
";

#[test]
fn the_documentation_has_every_element_and_the_errors_of_its_example() {
    let errors = config::parse(EXAMPLE, "storage-conf.xml", &Types::builtin()).unwrap_err();
    for (document, name, part) in [
        ("storage-conf.md", "elements of Storage", table(settings_of("Storage"), NameKind::Element)),
        (
            "tls.md",
            "elements of ClientEncryptionOptions",
            table(settings_of("ClientEncryptionOptions"), NameKind::Element),
        ),
        ("cluster.md", "elements of Cluster", table(settings_of("Cluster"), NameKind::Element)),
        ("storage-conf.md", "attributes of Keyspace", table(settings_of("Keyspace"), NameKind::Attribute)),
        ("storage-conf.md", "elements of Keyspace", table(settings_of("Keyspace"), NameKind::Element)),
        (
            "storage-conf.md",
            "attributes of ColumnFamily",
            table(settings_of("ColumnFamily"), NameKind::Attribute),
        ),
        (
            "storage-conf.md",
            "elements of ColumnFamily",
            table(settings_of("ColumnFamily"), NameKind::Element),
        ),
        ("cassandra-yaml.md", "settings of cassandra.yaml", yaml_table(settings_of("Storage"))),
        (
            "cassandra-yaml.md",
            "settings of a keyspace in cassandra.yaml",
            yaml_table(settings_of("Keyspace")),
        ),
        (
            "cassandra-yaml.md",
            "settings of a column family in cassandra.yaml",
            yaml_table(settings_of("ColumnFamily")),
        ),
        ("configuration.md", "example", format!("```\n{errors}\n```\n")),
    ] {
        let path = repository().join("docs").join(document);
        let text = fs::read_to_string(&path).unwrap();
        check(&path, &replace_part(&text, name, &part));
    }
}

/// A cassandra.yaml with every kind of value.
const YAML: &str = "cluster_name: 'Test Cluster'
initial_token: 0
partitioner: org.apache.cassandra.dht.RandomPartitioner
data_file_directories:
    - /var/lib/cassandra/data
commitlog_sync: periodic
commitlog_sync_period_in_ms: 10000
seed_provider:
    - class_name: org.apache.cassandra.locator.SimpleSeedProvider
      parameters:
          - seeds: \"127.0.0.1\"
keyspaces:
    - name: K
      replication_factor: 1
      column_families:
        - {name: C, compare_with: UTF8Type}
";

#[test]
fn a_yaml_of_many_settings_or_levels_is_refused_or_read_in_part() {
    let types = Types::builtin();
    let deep: String = (0..100).map(|depth| " ".repeat(depth) + "a:\n").collect();
    let why = config::parse(&deep, "a.yaml", &types).unwrap_err().to_string();
    assert!(why.contains("nested more than 64 deep"), "{why}");
    let why = config::parse(&"[".repeat(100_000), "a.yaml", &types).unwrap_err().to_string();
    assert!(why.contains("recursion limit exceeded"), "{why}");
    let wide: String = (0..100_000).map(|index| format!("a{index}:\n")).collect();
    let config = config::parse(&wide, "a.yaml", &types).unwrap();
    assert!(config.notes.contains(&Note::of("a.yaml: and 99950 more like these".to_owned())));
    let long = " ".repeat(2 * 1024 * 1024);
    assert!(
        config::parse(&long, "a.yaml", &types).unwrap_err().to_string().contains("more than 1048576 bytes")
    );
    let marked = "\u{feff}rpc_port: x";
    let errors = config::parse(marked, "a.yaml", &types).unwrap_err();
    assert_eq!(errors.errors[0].location().unwrap().to_string(), "a.yaml:1:12");
}

#[test]
fn the_error_for_a_missing_file_names_it() {
    let errors = config::load(Path::new("no/such/storage-conf.xml"), &Types::builtin()).unwrap_err();
    assert!(errors.to_string().contains("cannot read no/such/storage-conf.xml: "), "{errors}");
    assert!(errors.errors[0].location().is_none());
}

#[test]
fn the_error_for_invalid_utf_8_has_its_position() {
    let types = Types::builtin();
    let latin_1 = b"<Storage>\n  <ClusterName>M\xfcnchen</ClusterName>\n</Storage>";
    let errors = config::parse_bytes(latin_1, "a.xml", &types).unwrap_err();
    assert_eq!(errors.errors[0].location().unwrap().to_string(), "a.xml:2:17");
    assert!(errors.to_string().contains("the file is not UTF-8: invalid byte 0xfc"), "{errors}");
    let utf_16 = b"\xff\xfe<\0S\0";
    assert!(config::parse_bytes(utf_16, "a.xml", &types).unwrap_err().to_string().contains("UTF-16"));
    let bom = "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><Storage/>";
    assert!(config::parse(bom, "a.xml", &types).is_ok());
}

#[test]
fn messages_about_very_long_files_are_cut_short() {
    let types = Types::builtin();
    let huge = vec![b' '; 2 * 1024 * 1024];
    assert!(
        config::parse_bytes(&huge, "a.xml", &types)
            .unwrap_err()
            .to_string()
            .contains("more than 1048576 bytes")
    );
    let deep = "<a>".repeat(100_000);
    assert!(
        config::parse(&deep, "a.xml", &types).unwrap_err().to_string().contains("nested more than 64 deep")
    );
    let long_line = format!("<Storage><ThriftPort>x</ThriftPort>{}</Storage>", " ".repeat(100_000));
    assert!(config::parse(&long_line, "a.xml", &types).unwrap_err().to_string().len() < 1000);
    let wide: String = (0..80_000).map(|index| format!(" a{index}=''")).collect();
    let config = config::parse(&format!("<Storage{wide}/>"), "a.xml", &types).unwrap();
    assert_eq!(config.notes[50].text, "a.xml: and 79950 more like these");
    let many = format!("<Storage>{}</Storage>", "<Seeds><Seed/></Seeds>".repeat(1000));
    assert!(config::parse(&many, "a.xml", &types).unwrap_err().to_string().ends_with("and 980 more"));
}

/// A custom comparator: by length, then by bytes.
#[derive(Debug)]
struct ByLength;

impl AbstractType for ByLength {
    fn class_name(&self) -> &str {
        "com.example.ByLength"
    }

    fn validate(&self, _value: &[u8]) -> Result<(), MarshalError> {
        Ok(())
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        left.len().cmp(&right.len()).then(left.cmp(right))
    }

    fn to_text(&self, value: &[u8]) -> String {
        String::from_utf8_lossy(value).into_owned()
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        Ok(text.as_bytes().to_vec())
    }
}

#[test]
fn a_registered_comparator_can_be_used_and_is_suggested_for_a_misspelt_name() {
    let mut types = Types::builtin();
    types.register(Arc::new(ByLength));
    let file =
        |class: &str| format!("<Keyspace Name='K'><ColumnFamily Name='C' CompareWith='{class}'/></Keyspace>");
    let config = config::parse(&file("com.example.ByLength"), "a.xml", &types).unwrap();
    let family = config.catalog.column_family("K", "C").unwrap();
    assert_eq!(family.comparator.class_name(), "com.example.ByLength");
    let errors = config::parse(&file("com.example.ByLenght"), "a.xml", &types).unwrap_err();
    assert!(errors.to_string().contains("did you mean com.example.ByLength?"), "{errors}");
}

#[test]
fn errors_have_colours_on_a_terminal_only() {
    let errors = config::parse(EXAMPLE, "a.xml", &Types::builtin()).unwrap_err();
    assert!(errors.render(true).contains("\u{1b}["));
    assert!(!errors.render(false).contains('\u{1b}'));
    assert!(errors.to_string().is_ascii());
}

proptest! {
    /// A randomly damaged sample file either loads or has errors with positions. It stays ASCII, because invalid UTF-8
    /// has its own test.
    #[test]
    fn damaged_files_never_panic(cut in 0..config::DEFAULT.len(), flips in prop::collection::vec((0..config::DEFAULT.len(), 0u8..128), 0..8)) {
        let mut bytes = config::DEFAULT.as_bytes().to_vec();
        for (at, byte) in flips {
            bytes[at] ^= byte;
        }
        for damaged in [&bytes[..], &bytes[..cut], &bytes[cut..]] {
            if let Err(errors) = config::parse_bytes(damaged, "a.xml", &Types::builtin()) {
                prop_assert!(!errors.errors.is_empty());
                prop_assert!(errors.to_string().contains("a.xml:"));
                prop_assert!(errors.errors.iter().all(|error| error.location().is_some()));
            }
        }
    }

    /// The same for a cassandra.yaml.
    #[test]
    fn damaged_yaml_never_panics(cut in 0..YAML.len(), flips in prop::collection::vec((0..YAML.len(), 0u8..128), 0..8)) {
        let mut bytes = YAML.as_bytes().to_vec();
        for (at, byte) in flips {
            bytes[at] ^= byte;
        }
        for damaged in [&bytes[..], &bytes[..cut], &bytes[cut..]] {
            if let Err(errors) = config::parse_bytes(damaged, "a.yaml", &Types::builtin()) {
                prop_assert!(!errors.errors.is_empty());
                prop_assert!(errors.errors.iter().all(|error| error.location().is_some()));
            }
        }
    }

    /// The same for text that only looks like YAML.
    #[test]
    fn yaml_of_any_kind_never_panics(pieces in prop::collection::vec(prop::sample::select(&[
        "cluster_name", ": ", "\n", "  ", "- ", "'", "\"", "[", "]", "{", "}", ",", "&a ", "*a", "!!int ", "|", ">", "#", "---\n",
        "...\n", "~", "null", "ü", "\t", "\r", "\u{feff}", "keyspaces:\n", "name: ", "column_families:\n", "? ", "%YAML 1.1\n", "<<: ",
    ][..]), 0..24)) {
        let text = pieces.concat();
        if let Err(errors) = config::parse(&text, "a.yaml", &Types::builtin()) {
            prop_assert!(errors.errors.iter().all(|error| error.location().is_some()), "{}", errors);
        }
    }

    /// Random pieces of XML either load or have errors with positions.
    #[test]
    fn markup_of_any_kind_never_panics(pieces in prop::collection::vec(prop::sample::select(&[
        "<Storage>", "</Storage>", "<Keyspaces>", "<Keyspace Name='", "'>", "\"", "/>", "<ColumnFamily ", "CompareWith=",
        "&amp;", "&x;", "&#65;", "&#xD800;", "<!--", "-->", "<![CDATA[", "]]>", "<!DOCTYPE a [", "]>", "<?xml ", "?>", "ü", "\n", "\r",
        " ", "<", ">", "&", "=", "x", "<ThriftPort>", "</ThriftPort>", "\u{feff}",
    ][..]), 0..24)) {
        let text = pieces.concat();
        if let Err(errors) = config::parse(&text, "a.xml", &Types::builtin()) {
            prop_assert!(errors.to_string().contains("a.xml:"), "{}", errors);
        }
    }
}
