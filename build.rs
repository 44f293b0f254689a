//! Finds the commit of the sources, for `thriftstore --version`.
//!
//! The commit is that of THRIFTSTORE_COMMIT in the environment, for packagers, or that of the Git checkout. Programs
//! with the profile `dev` have none, because each commit would compile the crate again.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=THRIFTSTORE_COMMIT");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = match env::var("THRIFTSTORE_COMMIT") {
        Ok(commit) if !commit.is_empty() => format!("commit {commit}"),
        _ if is_release => of_checkout().unwrap_or_else(|| "commit unknown".to_owned()),
        _ => "a build without optimization".to_owned(),
    };
    println!("cargo::rustc-env=THRIFTSTORE_COMMIT={commit}");
    if !is_release {
        println!("cargo::rerun-if-changed=build.rs");
    }
}

/// Returns the commit of the checkout, and says whether files differ from it. `None` if the sources are no checkout, as
/// in a package.
fn of_checkout() -> Option<String> {
    // A package may be unpacked below the checkout of something else.
    let top = git(&["rev-parse", "--show-prefix"])?;
    if !top.is_empty() {
        return None;
    }
    for file in ["HEAD", "logs/HEAD"] {
        println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", file])?);
    }
    for sources in ["build.rs", "src", "crates", "idl", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={sources}");
    }
    let commit = git(&["describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=, with changes"])?;
    let date = git(&["show", "--no-patch", "--format=%cs", "HEAD"])?;
    Some(format!("commit {commit}, {date}"))
}

fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim_end().to_owned())
}
