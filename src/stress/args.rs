//! The command line of `thriftstore stress`.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use scylla::statement::Consistency as Level;

use super::dialect::{Dialect, Target};
use super::run::{Plan, Stop};
use super::workload::{COLUMNS_MAX, Operation, ROWS_MAX, Shape};
use crate::thrift::frame::Transport;

/// Puts a load on a Thrift server and measures it.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct StressArgs {
    #[command(subcommand)]
    pub(super) command: Option<StressCommand>,
    #[command(flatten)]
    pub(super) load: LoadArgs,
}

#[derive(Debug, Subcommand)]
pub(super) enum StressCommand {
    /// Answers every call with a constant and stores nothing: the limit of the loopback and of the client.
    DoNothingServer(DoNothingArgs),
    /// Measures a server against a do-nothing server, in alternating rounds.
    Compare(CompareArgs),
    /// The same over the CQL native protocol: prepared INSERT and SELECT of one row.
    Native(NativeArgs),
    /// Measures a server before a cluster against the cluster itself: what the server costs.
    Gateway(GatewayArgs),
}

#[derive(Debug, Args)]
pub(super) struct LoadArgs {
    /// The server as HOST:PORT; instead of --host and --port.
    #[arg(value_name = "ADDRESS", conflicts_with_all = ["host", "port"])]
    address: Option<String>,
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    #[arg(long, default_value_t = 9160)]
    port: u16,
    /// What every request does. `mixed` is half reads and half inserts.
    #[arg(long, value_enum, default_value_t = Operation::Insert)]
    operation: Operation,
    /// Columns of a row: what inserts choose from and what one batch writes.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=COLUMNS_MAX as i64))]
    columns: u32,
    /// Read slices from the row's end.
    #[arg(long)]
    reversed: bool,
    /// Stop after this many operations.
    #[arg(long, conflicts_with = "seconds")]
    ops: Option<u64>,
    /// Stop after this many seconds.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Write every column of every row before measuring.
    #[arg(long)]
    pub populate: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    client: ClientArgs,
}

/// Where the data lies and what it looks like.
#[derive(Debug, Clone, Args)]
pub(super) struct DataArgs {
    #[arg(long, default_value = "Keyspace1")]
    keyspace: String,
    /// Standard1 by default, Super1 with --super.
    #[arg(long)]
    column_family: Option<String>,
    /// The column family is a super column family; each row has one super column.
    #[arg(long = "super")]
    super_columns: bool,
    /// Keys are chosen from this many rows.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=ROWS_MAX))]
    rows: u64,
    /// Bytes of a column's value.
    #[arg(long, default_value_t = 34)]
    pub value_size: usize,
    /// Columns that a slice asks for.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(i32).range(0..))]
    pub slice_count: i32,
    #[arg(long, value_enum, ignore_case = true, default_value_t = Consistency::One)]
    consistency: Consistency,
}

/// How the clients behave.
#[derive(Debug, Clone, Args)]
pub(super) struct ClientArgs {
    /// Whose API the calls belong to: 0.6 names the keyspace in each call, 0.7 and later set it once.
    #[arg(long, value_enum, default_value_t = Dialect::Keyed)]
    dialect: Dialect,
    /// Framed transport; the default from 0.7 on.
    #[arg(long, conflicts_with = "unframed")]
    framed: bool,
    /// Unframed transport; the default of 0.6.
    #[arg(long)]
    unframed: bool,
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Requests that each connection keeps on their way.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pipeline: u32,
    /// Threads that the connections are spread over. On two cores shared with the server a second one gains a tenth
    /// in rate and triples the 99th percentile.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,
    /// Seed of the keys, columns and values.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
pub(super) struct DoNothingArgs {
    /// Address to listen at; port 0 picks a free one. The address bound is printed.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub listen: String,
    /// Columns in each answer to `get_slice`.
    #[arg(long, default_value_t = 10)]
    pub columns: u32,
    /// Bytes of each column's value.
    #[arg(long, default_value_t = 34)]
    pub value_size: usize,
    /// Speak the CQL native protocol instead of Thrift.
    #[arg(long)]
    pub native: bool,
    /// Keep a processor awake between requests that follow each other closely, as `serve` does.
    #[arg(long)]
    pub busy_poll: bool,
    /// Exit when standard input ends: so no child outlives its parent.
    #[arg(long, hide = true)]
    pub exit_with_stdin: bool,
}

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// The server to measure, as HOST:PORT.
    #[arg(long, value_name = "HOST:PORT")]
    against: String,
    /// Columns of a row.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=COLUMNS_MAX as i64))]
    columns: u32,
    /// Columns that one batch writes.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=COLUMNS_MAX as i64))]
    batch_columns: u32,
    /// Rounds of each operation against each server.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Seconds of each round.
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    /// The server holds the rows already.
    #[arg(long)]
    pub no_populate: bool,
    /// Let the do-nothing server keep a processor awake between requests, as `serve` does.
    #[arg(long)]
    pub busy_poll: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Debug, Args)]
pub(super) struct NativeArgs {
    /// The server to measure, as HOST:PORT.
    #[arg(long, value_name = "HOST:PORT")]
    against: String,
    /// Keys are chosen from this many rows.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=ROWS_MAX))]
    pub rows: u64,
    /// Bytes of a row's value.
    #[arg(long, default_value_t = 34)]
    pub value_size: usize,
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub connections: u32,
    /// Requests that each connection keeps on their way.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub pipeline: u32,
    /// Rounds of each statement against each server.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Seconds of each round.
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    /// Let the do-nothing server keep a processor awake between requests, as `serve` does.
    #[arg(long)]
    pub busy_poll: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(super) struct GatewayArgs {
    /// The server before the cluster, as HOST:PORT.
    #[arg(long, value_name = "HOST:PORT")]
    against: String,
    /// The cluster's nodes, as HOST:PORT,...
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',', required = true)]
    pub cluster: Vec<String>,
    /// Columns of a row.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=COLUMNS_MAX as i64))]
    columns: u32,
    /// Rounds of each operation each way.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Seconds of each round.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    client: ClientArgs,
}

impl GatewayArgs {
    /// The plan of one operation's rounds, through the gateway.
    pub fn plan(&self, operation: Operation) -> Result<Plan, String> {
        let shape = self.data.shape(self.columns, self.columns);
        let stop = Stop::After(duration(self.seconds)?);
        let plan = self.client.plan(resolve(&self.against)?, &self.data, shape, operation, stop);
        match plan.target.super_column {
            None => Ok(plan),
            Some(_) => {
                Err("what a gateway costs is measured on a plain column family: leave --super away"
                    .to_owned())
            }
        }
    }
}

impl NativeArgs {
    pub fn address(&self) -> Result<SocketAddr, String> {
        resolve(&self.against)
    }

    pub fn round(&self) -> Result<Duration, String> {
        duration(self.seconds)
    }

    /// The defaults, for tests.
    #[cfg(test)]
    pub fn of(address: &str) -> NativeArgs {
        NativeArgs {
            against: address.to_owned(),
            rows: 100,
            value_size: 34,
            connections: 4,
            pipeline: 8,
            rounds: 1,
            seconds: 0.1,
            busy_poll: false,
            json: false,
        }
    }
}

/// Consistency levels by their numbers on the wire, which all servers but 0.4 agree on.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
enum Consistency {
    Zero = 0,
    One = 1,
    Quorum = 2,
    LocalQuorum = 3,
    EachQuorum = 4,
    All = 5,
    Any = 6,
    Two = 7,
    Three = 8,
    LocalOne = 11,
}

impl LoadArgs {
    pub fn plan(&self) -> Result<Plan, String> {
        let address = match &self.address {
            Some(address) => resolve(address)?,
            None => resolve(&format!("{}:{}", self.host, self.port))?,
        };
        let stop = match self.ops {
            Some(count) => Stop::Operations(count),
            None => Stop::After(duration(self.seconds)?),
        };
        let operation = match (self.operation, self.reversed) {
            (Operation::Slice, true) => Operation::SliceReversed,
            (operation, _) => operation,
        };
        let shape = self.data.shape(self.columns, self.columns);
        let plan = self.client.plan(address, &self.data, shape, operation, stop);
        match plan.is_possible() {
            true => Ok(plan),
            false => Err(
                "CQL 3 is of 1.2 and later, for plain column families: say --dialect 1.2, and not --super"
                    .to_owned(),
            ),
        }
    }
}

impl CompareArgs {
    /// The plan of one operation's rounds, against the server that is measured.
    pub fn plan(&self, operation: Operation) -> Result<Plan, String> {
        let shape = self.data.shape(self.columns, self.batch_columns.min(self.columns));
        let stop = Stop::After(duration(self.seconds)?);
        Ok(self.client.plan(resolve(&self.against)?, &self.data, shape, operation, stop))
    }

    /// Columns that a full row answers a slice with.
    pub fn columns_per_slice(&self) -> u32 {
        self.data.slice_count.unsigned_abs().min(self.columns)
    }
}

impl DataArgs {
    /// The consistency level as the driver calls it.
    pub fn level(&self) -> Result<Level, String> {
        Ok(match self.consistency {
            Consistency::Any => Level::Any,
            Consistency::One => Level::One,
            Consistency::Two => Level::Two,
            Consistency::Three => Level::Three,
            Consistency::Quorum => Level::Quorum,
            Consistency::All => Level::All,
            Consistency::LocalQuorum => Level::LocalQuorum,
            Consistency::EachQuorum => Level::EachQuorum,
            Consistency::LocalOne => Level::LocalOne,
            Consistency::Zero => return Err("a cluster of today has no consistency level ZERO".to_owned()),
        })
    }

    fn shape(&self, columns: u32, batch_columns: u32) -> Shape {
        Shape {
            rows: self.rows,
            columns,
            batch_columns,
            value_bytes: self.value_size,
            slice_count: self.slice_count,
        }
    }

    fn target(&self, dialect: Dialect) -> Target {
        let default_family = if self.super_columns { "Super1" } else { "Standard1" };
        Target {
            dialect,
            keyspace: self.keyspace.clone(),
            column_family: self.column_family.clone().unwrap_or_else(|| default_family.to_owned()),
            super_column: self.super_columns.then(|| "super".to_owned()),
            consistency: self.consistency as i32,
        }
    }
}

impl ClientArgs {
    fn plan(
        &self,
        address: SocketAddr,
        data: &DataArgs,
        shape: Shape,
        operation: Operation,
        stop: Stop,
    ) -> Plan {
        let framed = self.framed || (self.dialect == Dialect::Session && !self.unframed);
        Plan {
            address,
            transport: if framed { Transport::Framed } else { Transport::Unframed },
            target: data.target(self.dialect),
            shape,
            operation,
            connections: self.connections as usize,
            threads: self.threads.min(self.connections) as usize,
            pipeline: self.pipeline as usize,
            seed: self.seed,
            stop,
        }
    }
}

/// The first address that a HOST:PORT stands for.
fn resolve(address: &str) -> Result<SocketAddr, String> {
    let mut found = address.to_socket_addrs().map_err(|error| format!("address '{address}': {error}"))?;
    found.next().ok_or_else(|| format!("address '{address}' stands for nothing"))
}

fn duration(seconds: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(seconds).map_err(|error| format!("--seconds {seconds}: {error}"))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct Tool {
        #[command(flatten)]
        stress: StressArgs,
    }

    fn plan(line: &str) -> Plan {
        let words = ["stress"].into_iter().chain(line.split_whitespace());
        Tool::try_parse_from(words).unwrap().stress.load.plan().unwrap()
    }

    #[test]
    fn the_command_line_holds_together() {
        Tool::command().debug_assert();
        assert!(Tool::try_parse_from(["stress", "compare", "--against", "h:1", "--super"]).is_ok());
        assert!(Tool::try_parse_from(["stress", "do-nothing-server"]).is_ok());
        assert!(Tool::try_parse_from(["stress", "--framed", "--unframed"]).is_err());
        assert!(Tool::try_parse_from(["stress", "--ops", "1", "--seconds", "1"]).is_err());
    }

    #[test]
    fn the_dialect_decides_the_transport_unless_told() {
        assert_eq!(plan("").transport, Transport::Unframed);
        assert_eq!(plan("--framed").transport, Transport::Framed);
        assert_eq!(plan("--dialect 0.7").transport, Transport::Framed);
        assert_eq!(plan("--dialect 1.2 --unframed").transport, Transport::Unframed);
    }

    #[test]
    fn defaults_are_those_of_a_stock_server() {
        let plan = plan("");
        assert_eq!(plan.address.to_string(), "127.0.0.1:9160");
        assert_eq!((&plan.target.keyspace[..], &plan.target.column_family[..]), ("Keyspace1", "Standard1"));
        assert_eq!(plan.target.consistency, 1);
        let reversed = self::plan("127.0.0.1:1 --super --consistency quorum --operation slice --reversed");
        assert_eq!(reversed.address.port(), 1);
        assert_eq!((&reversed.target.column_family[..], reversed.target.consistency), ("Super1", 2));
        assert_eq!(reversed.operation, Operation::SliceReversed);
    }
}
