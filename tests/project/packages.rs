//! Holds the files of the container image against the project: on machines without a container engine nothing else reads
//! them. `packaging/check` builds and starts the image where one runs.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text_of(file: &Path) -> String {
    fs::read_to_string(repository().join(file)).unwrap()
}

/// Returns what follows a word at the beginning of lines.
fn after<'t>(text: &'t str, word: &str) -> impl Iterator<Item = &'t str> {
    text.lines().filter_map(move |line| line.trim_start().strip_prefix(word)).map(str::trim)
}

fn dockerfile() -> String {
    text_of(Path::new("packaging/docker/Dockerfile"))
}

#[test]
fn the_image_copies_files_that_exist_and_has_the_compiler_of_the_project() {
    let text = dockerfile();
    let copied = after(&text, "COPY ").filter(|rest| !rest.starts_with("--from"));
    let sources: Vec<&str> = copied.map(|rest| rest.split(' ').next().unwrap()).collect();
    assert!(sources.contains(&"storage-conf.xml"), "{sources:?}");
    for source in sources {
        assert!(repository().join(source).exists(), "{source}");
    }
    let manifest = text_of(Path::new("Cargo.toml"));
    let version = after(&manifest, "rust-version = ").next().unwrap().trim_matches('"').to_owned();
    assert!(text.contains(&format!("FROM rust:{version}-")), "the compiler of Cargo.toml is {version}");
}

#[test]
fn the_command_of_the_image_is_one_of_the_program() {
    let text = dockerfile();
    let words = |instruction: &str| -> Vec<String> {
        serde_json::from_str(after(&text, instruction).next().unwrap()).unwrap()
    };
    let program = env!("CARGO_BIN_EXE_thriftstore");
    assert_eq!(words("ENTRYPOINT "), ["thriftstore"]);
    let help = Command::new(program).args(["serve", "--help-all"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let command = words("CMD ");
    assert_eq!(command[0], "serve");
    for option in command.iter().filter(|word| word.starts_with("--")) {
        assert!(help.contains(&format!("{option} ")), "{option}");
    }
    assert!(text.contains("CMD [\"thriftstore\", \"doctor\", \"127.0.0.1:9160\"]"), "the health check");
}

#[test]
fn the_compose_file_names_the_image_and_publishes_its_ports_to_this_machine_only() {
    let folder = Path::new("packaging/docker");
    let text = text_of(&folder.join("compose.yaml"));
    let value = |name: &str| after(&text, name).next().unwrap().to_owned();
    let context = repository().join(folder).join(value("context: "));
    assert!(context.join(value("dockerfile: ")).is_file());
    let published: BTreeSet<String> = after(&text, "- \"127.0.0.1:")
        .map(|rest| rest.trim_end_matches('"').split_once(':').unwrap().1.to_owned())
        .collect();
    let image = dockerfile();
    let exposed: BTreeSet<String> =
        after(&image, "EXPOSE ").flat_map(|rest| rest.split(' ')).map(str::to_owned).collect();
    assert_eq!(published, exposed);
    assert!(context.join("storage-conf.xml").is_file() && text.contains("../../storage-conf.xml:"));
    let volume = after(&image, "VOLUME ").next().unwrap().to_owned();
    assert!(text.contains(&format!("- data:{volume}\n")), "{volume}");
}
