//! `thriftstore man`: a manual page for each command, from the definition of the command line.

use std::path::PathBuf;

/// Where the manual pages are written.
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// The directory; it must exist. Existing pages are replaced.
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
}

/// Writes `thriftstore.1`, and `thriftstore-COMMAND.1` for each command.
pub(super) fn man(args: &ManArgs) -> Result<(), String> {
    let directory = &args.directory;
    clap_mangen::generate_to(with_all_descriptions(super::command()), directory)
        .map_err(|error| format!("cannot write the manual pages to {}: {error}", directory.display()))
}

/// Shows options that the short help leaves out: otherwise their pages have no descriptions.
fn with_all_descriptions(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| arg.hide_short_help(false)).mut_subcommands(with_all_descriptions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_a_page() {
        let directory = tempfile::tempdir().unwrap();
        man(&ManArgs { directory: directory.path().to_owned() }).unwrap();
        let text = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap_or_default();
        assert!(text("thriftstore.1").contains("thriftstore\\-serve(1)"));
        let command = super::super::command();
        for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
            let page = format!("thriftstore-{}.1", one.get_name());
            let about = one.get_about().unwrap().to_string();
            let first = about.split_whitespace().next().unwrap();
            assert!(text(&page).contains(first), "{page} is missing or has no description");
        }
        assert!(text("thriftstore-serve.1").contains("\\-\\-cluster\\-replication"));
        // An option that the short help leaves out.
        assert!(text("thriftstore-serve.1").contains("The number of files that are kept"));
    }

    #[test]
    fn a_missing_directory_is_an_error() {
        let error = man(&ManArgs { directory: "does/not/exist".into() }).unwrap_err();
        assert!(error.starts_with("cannot write the manual pages to does/not/exist: "), "{error}");
    }
}
