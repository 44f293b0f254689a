//! The help of the command line: commands by purpose, examples, and `serve --help-all`.
//!
//! The texts come from the definitions of the commands, except the groups and examples below.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

/// The widest help texts, also on wider terminals: long lines are hard to read.
const WIDTH: usize = 100;

/// Commands by purpose, in the order in which people need them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Serve", &["serve", "doctor"]),
    ("Look at data", &["explain", "cells", "sstable"]),
    ("Move and keep data", &["import", "export", "copy", "move", "backup", "restore", "archive"]),
    ("Record and compare traffic", &["record", "replay", "traffic", "shadow"]),
    ("Test and measure", &["control", "stress"]),
    ("Set up", &["completions", "man"]),
];

const EXAMPLES: &str = include_str!("help_examples.txt");

const SERVE_EXAMPLES: &str = include_str!("help_serve_examples.txt");

/// Adds groups and examples to the help of the program and of `serve`.
pub(super) fn with_help(command: Command) -> Command {
    let command = command.max_term_width(WIDTH).mut_subcommand("serve", with_short_help);
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}{{after-help}}",
        groups(&command)
    );
    command.help_template(template).after_help(EXAMPLES)
}

/// Makes `--help` print the most used options, and `--help-all` all of them.
fn with_short_help(serve: Command) -> Command {
    let flag =
        |name: &'static str, text: &'static str| Arg::new(name).long(name).help(text).help_heading("Help");
    let most = flag("help", "Print the most used options").short('h').action(ArgAction::HelpShort);
    let all = flag("help-all", "Print all options, with their details").action(ArgAction::HelpLong);
    serve.disable_help_flag(true).arg(most).arg(all).after_help(SERVE_EXAMPLES)
}

/// Returns the lines of the commands in groups.
fn groups(command: &Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        // Writing to a string does not fail.
        let _ = writeln!(text, "\n{title}:");
        for name in names {
            text += &line(command, name);
        }
    }
    text
}

fn line(command: &Command, name: &str) -> String {
    let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
    format!("  {name:<12} {}\n", about.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;

    #[test]
    fn each_command_is_in_one_group() {
        let command = command();
        for name in GROUPS.iter().flat_map(|(_, names)| *names) {
            assert!(command.find_subcommand(name).is_some(), "{name} is no command");
            assert_eq!(GROUPS.iter().filter(|(_, names)| names.contains(name)).count(), 1, "{name}");
        }
        for one in command.get_subcommands() {
            let name = one.get_name();
            assert!(GROUPS.iter().any(|(_, names)| names.contains(&name)), "{name} is in no group");
        }
    }

    #[test]
    fn the_help_of_serve_fits_two_screens() {
        const SCREEN: (usize, usize) = (80, 25);
        let mut command = command().term_width(SCREEN.0);
        let serve = command.find_subcommand_mut("serve").unwrap();
        let short = serve.clone().term_width(SCREEN.0).render_help().to_string();
        assert!(short.lines().count() <= 2 * SCREEN.1, "{} lines:\n{short}", short.lines().count());
        for option in ["--config", "--data-dir", "--thrift", "--cql", "--admin", "--help-all"] {
            assert!(short.contains(option), "{option} is missing:\n{short}");
        }
        let long = serve.render_long_help().to_string();
        for argument in serve.get_arguments() {
            let option = format!("--{}", argument.get_long().unwrap());
            assert!(long.contains(&option), "{option} is missing in --help-all");
        }
    }

    #[test]
    fn examples_are_accepted() {
        let examples =
            EXAMPLES.lines().chain(SERVE_EXAMPLES.lines()).filter_map(|line| line.strip_prefix("  "));
        for example in examples {
            let statement = example.split("  ").next().unwrap_or(example);
            if statement.contains(" help ") {
                continue;
            }
            let parsed = command().try_get_matches_from(statement.split_whitespace());
            assert!(parsed.is_ok(), "{statement}: {}", parsed.unwrap_err());
        }
    }
}
