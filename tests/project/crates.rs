//! The rules between crates: each uses only those that it may, and the core knows none of the libraries of companions.
//! The compiler refuses what no manifest lists, so this test reads the manifests.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each crate, and the crates that it may use.
const MAY_USE: [(&str, &[&str]); 21] = [
    ("base", &[]),
    ("allocator", &["base"]),
    ("config", &["base"]),
    ("wire", &["base"]),
    ("cql-syntax", &["base"]),
    ("store", &["base"]),
    ("embedded", &["base", "store"]),
    ("archive", &["base", "store", "embedded"]),
    ("cluster", &["base", "store"]),
    ("db", &["base", "cql-syntax", "store"]),
    ("cql", &["base", "cql-syntax", "store", "db"]),
    ("net", &["base", "config"]),
    ("server", &["base", "wire", "cql-syntax", "db", "cql", "net"]),
    ("sstable", &["base"]),
    ("web", &["base", "net"]),
    ("json-rows", &["base", "db"]),
    ("double", &["base", "config", "store", "embedded", "db", "cql", "net", "server", "web", "json-rows"]),
    (
        "transfer",
        &[
            "base",
            "config",
            "wire",
            "cql-syntax",
            "store",
            "embedded",
            "cluster",
            "db",
            "cql",
            "net",
            "sstable",
            "json-rows",
        ],
    ),
    ("traffic", &["base", "wire", "cql-syntax", "net", "web"]),
    (
        "console",
        &[
            "base",
            "config",
            "wire",
            "cql-syntax",
            "store",
            "embedded",
            "db",
            "cql",
            "net",
            "server",
            "sstable",
            "web",
            "traffic",
            "double",
        ],
    ),
    ("stress", &["base", "wire", "net"]),
];

/// Libraries that no crate of the core may know.
const OF_COMPANIONS: [&str; 15] = [
    "askama",
    "axum",
    "clap",
    "http-body-util",
    "hyper",
    "hyper-util",
    "indicatif",
    "object_store",
    "opentelemetry",
    "prometheus-client",
    "reqwest",
    "hdrhistogram",
    "schemars",
    "thrift",
    "tracing-opentelemetry",
];

/// The crates of the core whose types the control API's document describes. Only with their feature `json-schema`, which
/// `double` enables, they know the library for that.
const DESCRIBED: [&str; 2] = ["base", "db"];
const DESCRIBING: &str = "schemars = { workspace = true, optional = true }\n";

/// Libraries that one crate of the core may know, and its name.
const OF_ONE: [(&str, &str); 4] =
    [("scylla", "cluster"), ("lsm-tree", "embedded"), ("quick-xml", "config"), ("bcrypt", "db")];

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the names in a section of a manifest.
fn names_in<'m>(manifest: &'m str, section: &str) -> BTreeSet<&'m str> {
    let lines = manifest.lines().skip_while(|line| *line != section).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let name = |line: &'m str| line.split(['.', ' ', '=']).next().filter(|name| !name.starts_with('#'));
    lines.filter_map(name).filter(|name| !name.is_empty()).collect()
}

/// Returns the manifests of all crates by name.
fn manifests() -> BTreeMap<String, String> {
    let folders = fs::read_dir(repository().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let manifest = |folder: &Path| fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let name = |folder: &Path| folder.file_name().unwrap().to_str().unwrap().to_owned();
    folders.map(|folder| (name(&folder), manifest(&folder))).collect()
}

#[test]
fn each_crate_uses_only_those_that_it_may() {
    let manifests = manifests();
    let known: BTreeMap<&str, &[&str]> = MAY_USE.into_iter().collect();
    assert_eq!(manifests.keys().collect::<Vec<_>>(), known.keys().collect::<Vec<_>>(), "other crates");
    for (at, (name, may_use)) in MAY_USE.into_iter().enumerate() {
        let used = names_in(&manifests[name], "[dependencies]");
        let used: BTreeSet<&str> = used.into_iter().filter(|used| known.contains_key(used)).collect();
        let allowed: BTreeSet<&str> = may_use.iter().copied().collect();
        assert_eq!(used, allowed, "the crates that {name} uses, and that it may use");
        let before: Vec<&str> = MAY_USE[..at].iter().map(|(name, _)| *name).collect();
        let later = used.into_iter().filter(|used| !before.contains(used));
        assert_eq!(later.collect::<Vec<_>>(), Vec::<&str>::new(), "{name} uses crates that come after it");
    }
}

#[test]
fn the_core_knows_no_library_of_companions() {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let line = manifest.lines().find_map(|line| line.strip_prefix("core = ")).unwrap();
    let core: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
    assert!(core.len() > 8, "{line}");
    let manifests = manifests();
    for name in &core {
        let manifest = match DESCRIBED.contains(name) {
            true => {
                assert!(
                    manifests[*name].contains("json-schema = [\"dep:schemars\""),
                    "{name} has no feature"
                );
                manifests[*name].replace(DESCRIBING, "")
            }
            false => manifests[*name].clone(),
        };
        let used = names_in(&manifest, "[dependencies]");
        let wrong: Vec<_> = OF_COMPANIONS.iter().filter(|library| used.contains(**library)).collect();
        assert!(wrong.is_empty(), "{name} uses {wrong:?}");
        let companion = used.iter().find(|used| manifests.contains_key(**used) && !core.contains(used));
        assert_eq!(companion, None, "{name} is of the core");
        for (library, of) in OF_ONE {
            assert!(*name == of || !used.contains(library), "{name} uses {library}, which is for {of}");
        }
    }
}
