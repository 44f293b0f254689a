//! `thriftstore completions`: completion of commands and options in shells.

use std::io::{self, Write};

use clap_complete::Shell;

use crate::cli::Result;
use base::util::output;

/// The shell that completes.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    shell: Shell,
}

/// Prints the script that a shell reads at its start.
pub(super) fn completions(args: &CompletionsArgs) -> Result<()> {
    output::check(io::stdout().write_all(&script(args.shell)));
    Ok(())
}

fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut super::command(), "thriftstore", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn all_shells_complete_commands_and_options() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell)).unwrap();
            for word in ["stress", "ephemeral"] {
                assert!(script.contains(word), "{shell} does not complete {word}");
            }
        }
    }
}
