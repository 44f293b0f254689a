//! `--from`: the directories of the old servers. Each `--from` is a node, and a node has a directory for each of its disks.
//!
//! ```text
//!   --from /mnt/a/disk1/data /mnt/a/disk2/data --from /mnt/b/data      two nodes, the first one with two disks
//! ```

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};

use crate::cli::Result;
use transfer::endpoint::Location;

const NAME: &str = "from";

/// The beginning of the place of an export.
const JSON: &str = "json:";

/// The kinds of places that are not directories of old servers.
const KINDS: [&str; 4] = ["data", "thrift", "native", "cluster"];

const HELP: &str = "The data directory of an old server, or the directory of a keyspace, of a column family or of a snapshot. If \
    the server had several data directories, give all of them after one --from. Each --from is regarded as another node";

/// The directories of each node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceDirectories {
    pub nodes: Vec<Vec<PathBuf>>,
}

impl SourceDirectories {
    /// Returns the text of a single place that is not a directory: `data:DIRECTORY`, for example.
    fn place(&self) -> Option<&str> {
        match &self.nodes[..] {
            [only] => match &only[..] {
                [path] if !path.exists() => path.to_str(),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the directory of an export in JSON: `json:DIRECTORY`.
    pub(super) fn json(&self) -> Option<PathBuf> {
        self.place()?.strip_prefix(JSON).map(PathBuf::from)
    }

    /// Returns a data directory of thriftstore, a server or a cluster; `None` for the directories of old servers.
    pub(super) fn location(&self) -> Option<Result<Location>> {
        let text = self.place()?;
        let kind = text.split(':').next().unwrap_or(text);
        KINDS.contains(&kind).then(|| text.parse())
    }

    /// Returns all directories, separated by commas.
    pub(super) fn shown(&self) -> String {
        let shown: Vec<String> = self.nodes.iter().flatten().map(|path| path.display().to_string()).collect();
        shown.join(", ")
    }
}

// The derived form of repeated options with several values loses which values belong together.
impl Args for SourceDirectories {
    fn augment_args(command: Command) -> Command {
        let from = Arg::new(NAME).long(NAME).value_name("DIR").help(HELP).required(true);
        command.arg(from.num_args(1..).action(ArgAction::Append).value_parser(value_parser!(PathBuf)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        SourceDirectories::augment_args(command)
    }
}

impl FromArgMatches for SourceDirectories {
    fn from_arg_matches(matches: &ArgMatches) -> Result<SourceDirectories, Error> {
        let nodes = matches.get_occurrences::<PathBuf>(NAME).into_iter().flatten();
        Ok(SourceDirectories { nodes: nodes.map(|of| of.cloned().collect()).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = SourceDirectories::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_from_is_a_node() {
        let parse = |words: &[&str]| {
            let matches = SourceDirectories::augment_args(Command::new("import"));
            let matches = matches.arg(Arg::new("to").long("to")).try_get_matches_from(words);
            matches.and_then(|matches| SourceDirectories::from_arg_matches(&matches)).map(|from| from.nodes)
        };
        let paths = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(PathBuf::from).collect() };
        let nodes = parse(&["import", "--from", "a,1", "b:2", "--to", "data:c", "--from=d"]).unwrap();
        assert_eq!(nodes, [paths(&["a,1", "b:2"]), paths(&["d"])]);
        parse(&["import", "--from"]).expect_err("there is no directory");
        parse(&["import", "--to", "data:c"]).expect_err("it is required");
    }
}
