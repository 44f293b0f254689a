//! `thriftstore man`: a manual page for each command, from the definition of the command line.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Command;

use super::version;
use crate::cli::Result;

/// Where the manual pages are written.
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// The directory. It is created if it does not exist, and existing pages are replaced.
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
}

/// Writes `thriftstore.1`, and `thriftstore-COMMAND.1` for each command.
pub(super) fn man(args: &ManArgs) -> Result<()> {
    let directory = &args.directory;
    let mut command = with_all_descriptions(super::command()).disable_help_subcommand(true);
    command.build();
    let written = fs::create_dir_all(directory).and_then(|()| write_pages(&command, directory));
    written.map_err(|error| format!("cannot write the manual pages to {}: {error}", directory.display()))
}

/// Writes the page of a command, and those of its subcommands.
fn write_pages(command: &Command, directory: &Path) -> io::Result<()> {
    for subcommand in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        write_pages(subcommand, directory)?;
    }
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let page = clap_mangen::Man::new(command.clone())
        .title(name.to_uppercase())
        .date(version::date().unwrap_or("undated"))
        .source(format!("thriftstore {}", version::SHORT))
        .manual("thriftstore");
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = with_values(command, String::from_utf8_lossy(&text).into_owned());
    fs::write(directory.join(page.get_filename()), text)
}

/// Adds the names of values to the options in the synopsis, which is the first place of each option.
fn with_values(command: &Command, page: String) -> String {
    command.get_opts().filter(|option| !option.is_hide_set()).fold(page, |page, option| {
        let (Some(long), Some(values)) = (option.get_long(), option.get_value_names()) else { return page };
        let bold = format!("\\fB\\-\\-{}\\fR", long.replace('-', "\\-"));
        page.replacen(&bold, &format!("{bold} \\fI{}\\fR", values.join(" ").replace('-', "\\-")), 1)
    })
}

/// Shows options that the short help leaves out: otherwise their pages have no descriptions.
fn with_all_descriptions(command: Command) -> Command {
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
    fn a_page_has_a_title_and_the_values_of_options() {
        let directory = tempfile::tempdir().unwrap();
        let pages = directory.path().join("share/man/man1");
        man(&ManArgs { directory: pages.clone() }).unwrap();
        let page = fs::read_to_string(pages.join("thriftstore-serve.1")).unwrap();
        assert!(page.contains(".TH THRIFTSTORE-SERVE 1 "), "{page}");
        assert!(page.contains("[\\fB\\-\\-data\\-dir\\fR \\fIDIR\\fR]"), "{page}");
        assert!(page.contains("[\\fB\\-\\-ephemeral\\fR]"), "{page}");
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_an_error() {
        let error = man(&ManArgs { directory: "Cargo.toml/man1".into() }).unwrap_err();
        assert!(error.starts_with("cannot write the manual pages to Cargo.toml/man1: "), "{error}");
    }
}
