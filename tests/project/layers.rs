//! Checks rules of the sources that can be counted: a layer uses only the layers before it, files and functions are
//! short, and no file names a directory of one machine. `crates.rs` has the rules between crates.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "layers/releases.rs"]
mod releases;

use crate::skip::skip;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The layers of the crate `base`. Each uses only those before it.
const LAYERS: [&str; 6] = ["util", "compat", "marshal", "schema", "model", "partitioner"];

/// The most lines of code in a file, without tests, and in a function.
const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the code of a file up to its tests.
fn code_of(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    text[..end].to_owned()
}

/// Returns all files of the program and of the crates, with their paths in the repository and their code.
pub fn sources() -> Vec<(String, String)> {
    let crates = fs::read_dir(repository().join("crates")).unwrap();
    let mut folders: Vec<PathBuf> = crates.map(|entry| entry.unwrap().path().join("src")).collect();
    folders.push(repository().join("src"));
    folders.sort();
    let name = |path: &Path| path.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned();
    let files = folders.iter().flat_map(|folder| rust_files(folder));
    let found: Vec<_> = files.map(|path| (name(&path), code_of(&path))).collect();
    assert!(found.len() > 500, "the sources are not where this test looks");
    found
}

/// Returns the layers that the code of a file names after `crate::`, one by one or in braces.
fn used_layers(code: &str) -> BTreeSet<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut used = BTreeSet::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        used.extend(line.match_indices("crate::").map(|(at, found)| word(&line[at + found.len()..])));
    }
    for (at, found) in code.match_indices("crate::{") {
        let mut depth = 0;
        let inner = code[at + found.len()..].split_inclusive([',', '{', '}']);
        for part in inner {
            if depth == 0 {
                used.insert(word(part));
            }
            match part.chars().last() {
                Some('{') => depth += 1,
                Some('}') if depth == 0 => break,
                Some('}') => depth -= 1,
                _ => {}
            }
        }
    }
    used.remove("");
    used
}

/// Versions of SSTables are compared only in `format.rs`, so that its reader sees what a new version takes part in.
#[test]
fn letters_of_sstables_are_compared_only_in_their_table() {
    let mut count = 0;
    for (name, code) in sources() {
        let found: Vec<&str> = code
            .lines()
            .filter(|line| {
                let signs = ["letters <", "letters >", "letters ==", "rank() >"];
                signs.iter().any(|sign| line.contains(sign))
            })
            .collect();
        let is_table = name == "crates/sstable/src/format.rs";
        assert!(is_table || found.is_empty(), "{name} compares letters; add a method to `Format`: {found:?}");
        count += found.len();
    }
    assert!(count > 5, "{count} comparisons");
}

#[test]
fn uses_are_found_in_every_form() {
    let code = "use crate::a::X;\nfn f() { crate::b::g() }\nuse crate::{\n  c::{self, Y, Z},\n  d,\n};\n// crate::e\n";
    assert_eq!(used_layers(code).into_iter().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
}

#[test]
fn each_layer_of_the_base_uses_only_layers_before_it() {
    let place = |layer: &str| LAYERS.iter().position(|known| *known == layer);
    let mut wrong = Vec::new();
    for (name, code) in sources() {
        let Some((layer, _)) = name.strip_prefix("crates/base/src/").and_then(|name| name.split_once('/'))
        else {
            continue;
        };
        let Some(own) = place(layer) else {
            wrong.push(format!("{name}: {layer} is not in the list of layers"));
            continue;
        };
        for used in used_layers(&code) {
            match place(&used) {
                Some(at) if at <= own => {}
                Some(_) => wrong.push(format!("{name} uses {used}, which is below {layer}")),
                None => wrong.push(format!("{name} uses crate::{used}, which is no layer")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let essay = fs::read_to_string(repository().join("crates/base/src/lib.rs")).unwrap();
    assert!(LAYERS.iter().all(|layer| essay.contains(&format!("pub mod {layer};"))), "other layers");
}

#[test]
fn files_and_functions_are_short() {
    let mut long = Vec::new();
    // Tests in their own files are not counted.
    let is_test = |name: &str| name.ends_with("/tests.rs") || name.contains("/tests/");
    for (name, code) in sources().into_iter().filter(|(name, _)| !is_test(name)) {
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        let lines = code.lines().filter(is_code).count();
        if lines > FILE_LINES_MAX {
            long.push(format!("{name} has {lines} lines of code, the limit is {FILE_LINES_MAX}"));
        }
        for Function { name: function, lines, .. } in functions(&code) {
            if lines > FUNCTION_LINES_MAX {
                long.push(format!("{name}: {function} has {lines} lines, the limit is {FUNCTION_LINES_MAX}"));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// A tuple as a parameter leaves its parts without names at the call.
#[test]
fn no_parameter_is_a_tuple() {
    let has_tuple = |function: &Function| {
        [": (", ": &(", ": &mut ("].iter().any(|part| function.signature.contains(part))
    };
    let mut found = Vec::new();
    for (name, code) in sources() {
        found.extend(
            functions(&code)
                .iter()
                .filter(|function| has_tuple(function))
                .map(|function| format!("{name}: {}", function.name)),
        );
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(has_tuple(&functions("fn f(&self, (a, b): (u8, u8)) {\n}\n")[0]));
    assert!(!has_tuple(&functions("fn f(a: impl Fn(u8) -> (u8, u8)) -> (u8, u8) {\n}\n")[0]));
}

/// A function in the code of a file.
struct Function {
    name: String,
    lines: usize,
    signature: String,
}

/// Returns the functions of a file. The formatter indents the closing brace of a function like its first line.
fn functions(code: &str) -> Vec<Function> {
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let is_function = ["fn ", "pub fn ", "async fn ", "pub async fn ", "const fn ", "pub const fn "]
            .iter()
            .any(|start| trimmed.starts_with(start))
            || trimmed.starts_with("pub(") && trimmed.contains(" fn ");
        if !is_function {
            continue;
        }
        let indent = &line[..line.len() - trimmed.len()];
        // A body ends with a brace in the function's column, a declaration with a semicolon before any body.
        let close = format!("{indent}}}");
        let last = lines[at..].iter().position(|line| line.ends_with(['{', ';', '}'])).unwrap_or(0);
        let ends_at_once = !lines[at + last].ends_with('{');
        let end = lines[at..].iter().position(|line| **line == close);
        let length = if ends_at_once { 1 } else { end.map_or(1, |end| end + 1) };
        let name: String = trimmed.chars().take_while(|character| *character != '(').collect();
        found.push(Function { name, lines: length, signature: lines[at..=at + last].join("\n") });
    }
    found
}

#[test]
fn five_files_have_unsafe_code() {
    let found: Vec<String> = sources()
        .into_iter()
        .flat_map(|(name, code)| vec![name; code.matches("(unsafe_code").count()])
        .collect();
    let files = [
        "crates/allocator/src/mapped_buffer.rs",
        "crates/embedded/src/disk/mapping.rs",
        "crates/net/src/short_turns.rs",
        "src/main.rs",
    ];
    assert_eq!(found, [&["crates/allocator/src/lib.rs"; 4], &files[..]].concat());
}

#[test]
fn no_committed_file_names_a_directory_of_one_machine() {
    let output = match Command::new("git")
        .args(["-c", "safe.directory=*", "-C"])
        .arg(repository())
        .args(["ls-files", "-z"])
        .output()
    {
        Ok(output) if output.status.success() => output.stdout,
        _ => skip!("this is no git checkout"),
    };
    // The names are composed here, so that this file does not contain them.
    let forbidden = ["work", "tmp"].map(|folder| format!("/{folder}/"));
    let mut wrong = Vec::new();
    for name in output.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = std::str::from_utf8(name).unwrap();
        // A listed file may have been deleted; a file that is not text has no paths.
        let Ok(text) = fs::read_to_string(repository().join(name)) else { continue };
        for (line, number) in text.lines().zip(1..) {
            if let Some(folder) = forbidden.iter().find(|folder| line.contains(folder.as_str())) {
                wrong.push(format!("{name}:{number} names {folder}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the code of the files of each crate by module: `tables::tree` for `tables/tree.rs`.
fn modules_of_crates() -> BTreeMap<String, BTreeMap<Vec<String>, String>> {
    let mut crates: BTreeMap<String, BTreeMap<Vec<String>, String>> = BTreeMap::new();
    for (name, code) in sources() {
        let (folder, path) = name.split_once("src/").unwrap();
        let path = path.strip_suffix(".rs").unwrap();
        let mut module: Vec<String> = path.split('/').map(str::to_owned).collect();
        module.pop_if(|last| last == "mod" || last == "lib");
        crates.entry(folder.to_owned()).or_default().insert(module, code);
    }
    crates
}

/// Returns the paths that a file imports from its own crate, as modules and items.
fn imported(module: &[String], code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for statement in code.split(';').filter_map(|part| Some(part.rsplit_once("use ")?.1)) {
        let statement: String = statement.chars().filter(|letter| !letter.is_whitespace()).collect();
        let (mut base, mut rest) = match statement.strip_prefix("crate::") {
            Some(rest) => (Vec::new(), rest),
            None => (module.to_vec(), &statement[..]),
        };
        if base.is_empty() == statement.starts_with("super::") {
            continue;
        }
        while let Some(shorter) = rest.strip_prefix("super::") {
            base.pop();
            rest = shorter;
        }
        if base == module {
            continue;
        }
        let (path, items) = rest.split_once('{').unwrap_or((rest, ""));
        base.extend(path.split("::").filter(|name| !name.is_empty()).map(str::to_owned));
        let items = items.trim_end_matches('}').split(',').filter(|item| !item.is_empty());
        let each: Vec<_> = items.map(|item| [&base[..], &[item.to_owned()]].concat()).collect();
        found.extend(if each.is_empty() { vec![base] } else { each });
    }
    found
}

/// Returns the file that defines an imported path. For a folder, its `mod.rs` has the file of an item.
fn file_of(path: &[String], modules: &BTreeMap<Vec<String>, String>) -> Option<Vec<String>> {
    let (item, folder) = path.split_last()?;
    if let Some(code) = modules.get(path) {
        return (!code.contains("\nmod ")).then(|| path.to_vec());
    }
    let named = modules.get(folder)?.split(';').find_map(|statement| {
        let exported = statement.trim().strip_prefix("pub")?.split_once("use ")?.1;
        let (file, items) = exported.split_once("::")?;
        let has_item = items.split([',', '{', '}']).any(|other| other.trim() == item);
        has_item.then(|| [folder, &[file.to_owned()]].concat())
    });
    named.or_else(|| file_of(folder, modules))
}

#[test]
fn circles_of_imports_are_small() {
    let crates = modules_of_crates();
    assert!(crates.len() > 15, "the crates are not where this test looks");
    let mut imports = 0;
    for (folder, modules) in &crates {
        let uses: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> = modules
            .iter()
            .filter(|(_, code)| !code.contains("\nmod "))
            .map(|(module, code)| {
                let paths = imported(module, code);
                (module, paths.iter().filter_map(|path| file_of(path, modules)).collect())
            })
            .collect();
        imports += uses.values().map(BTreeSet::len).sum::<usize>();
        let reached: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> =
            uses.keys().map(|module| (*module, reached_from(module, &uses))).collect();
        for (module, of_module) in &reached {
            let circle: Vec<String> = of_module
                .iter()
                .filter(|other| reached.get(other).is_some_and(|of_other| of_other.contains(*module)))
                .map(|other| other.join("/"))
                .collect();
            assert!(circle.len() <= 3, "files of {folder} depend on each other: {}", circle.join(", "));
        }
    }
    assert!(imports > 2000, "only {imports} imports are found");
}

/// Returns the files that a file imports, and those that they import.
fn reached_from(
    module: &[String],
    uses: &BTreeMap<&Vec<String>, BTreeSet<Vec<String>>>,
) -> BTreeSet<Vec<String>> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![module.to_vec()]);
    while let Some(module) = next.pop() {
        for used in uses.get(&module).into_iter().flatten() {
            if seen.insert(used.clone()) {
                next.push(used.clone());
            }
        }
    }
    seen
}
