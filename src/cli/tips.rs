//! Tips for command lines that people expect to work.

use clap::Error;
use clap::error::{ContextKind, ContextValue};

/// Words that other servers and tools have, and the same for this program.
const TIPS: [(&[&str], &str); 11] = [
    (
        &["--port", "--rpc-port", "--address", "--listen", "--host", "-p"],
        "the address of Thrift is --thrift HOST:PORT, of CQL drivers --cql HOST:PORT",
    ),
    (&["--native", "--native-port", "--cql-port"], "the address of CQL drivers is --cql HOST:PORT"),
    (&["--http", "--console", "--metrics"], "the console and the metrics are at --admin HOST:PORT"),
    (&["--in-memory", "--memory", "--temporary"], "--ephemeral stores everything in memory"),
    (&["--keyspace", "--schema"], "the keyspaces are in the configuration: --config FILE"),
    (&["-f", "-c"], "the configuration is --config FILE"),
    (&["--daemon", "-d"], "systemd runs it in the background: docs/install.md; in a shell, append &"),
    (&["start", "run"], "thriftstore serve starts a server"),
    (&["cqlsh", "query", "shell"], "thriftstore has no shell for queries: use cqlsh, or the console"),
    (&["dump", "unload"], "thriftstore export --from DIR --to DIR writes CSV, JSON or SQL"),
    (&["verify", "check"], "thriftstore doctor looks for problems; doctor --verify DIR reads every byte"),
];

/// Adds the tip for an unknown command, or option of `serve`, that other servers and tools have. `command` is the first
/// word after the program's name.
pub(super) fn with_tip(mut error: Error, command: Option<&str>) -> Error {
    let unknown = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let given = unknown.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(given)) => Some(given.clone()),
        _ => None,
    });
    let given = given.filter(|given| !given.starts_with('-') || command == Some("serve"));
    let tip = given.and_then(|given| TIPS.iter().find(|(words, _)| words.contains(&given.as_str())));
    if let Some((_, tip)) = tip {
        // The name that clap finds similar is of something else.
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*tip).into()]));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;

    fn message(line: &str) -> String {
        let error = command().try_get_matches_from(line.split(' ')).unwrap_err();
        with_tip(error, line.split(' ').nth(1)).render().to_string()
    }

    #[test]
    fn options_of_other_servers_have_a_tip() {
        let message_of_port = message("thriftstore serve --port 9160");
        assert!(
            message_of_port.contains("tip: the address of Thrift is --thrift HOST:PORT"),
            "{message_of_port}"
        );
        let start = message("thriftstore start");
        assert!(
            start.contains("tip: thriftstore serve starts a server") && !start.contains("stress"),
            "{start}"
        );
        // A similar option is what clap suggests.
        assert!(message("thriftstore serve --confg x").contains("--config"));
        assert!(!message("thriftstore serve --nothing").contains("tip:"));
        assert!(!message("thriftstore stress -c 5").contains("--config FILE"));
    }

    #[test]
    fn tips_are_for_words_that_serve_and_the_program_do_not_have() {
        let command = command();
        let serve = command.find_subcommand("serve").unwrap();
        for word in TIPS.iter().flat_map(|(words, _)| *words) {
            let option = word.trim_start_matches('-');
            assert!(serve.get_arguments().all(|argument| argument.get_long() != Some(option)), "{word}");
            assert!(command.find_subcommand(word).is_none(), "{word}");
        }
    }
}
