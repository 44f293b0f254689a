//! The command line of `thriftstore stress`.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::dialect::{StressTarget, ThriftDialect};
use super::run::{Stop, StressPlan};
use super::workload::{COLUMNS_MAX, ROWS_MAX, StressOperation, WorkloadShape};
use wire::thrift::frame::Transport;

/// Put a load on a Thrift server and measure it.
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
    /// Reply to every call with a constant and store nothing: the limit of the loopback interface and the client.
    DoNothingServer(DoNothingArgs),
    /// Measure a server against a do-nothing server, in alternating rounds.
    Compare(CompareArgs),
    /// The same over the CQL native protocol: prepared INSERT and SELECT of one row.
    Native(NativeLoadArgs),
    /// Measure the cost of a gateway: requests through it against requests to the cluster itself.
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
    /// The operation of each request. `mixed` is half reads and half inserts.
    #[arg(long, value_enum, default_value_t = StressOperation::Insert)]
    operation: StressOperation,
    /// Columns of a row: inserts choose one of them, and a batch writes all.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=COLUMNS_MAX as i64))]
    columns: u32,
    /// Read slices from the end of the row.
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
    data: WorkloadArgs,
    #[command(flatten)]
    client: ClientArgs,
}

/// Where the data is stored, and its shape.
#[derive(Debug, Clone, Args)]
pub(super) struct WorkloadArgs {
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
    pub consistency: Consistency,
}

/// The behaviour of the clients.
#[derive(Debug, Clone, Args)]
pub(super) struct ClientArgs {
    /// The API generation of the calls: 0.6 has the keyspace in each call, 0.7 and later set it once.
    #[arg(long, value_enum, default_value_t = ThriftDialect::Keyed)]
    dialect: ThriftDialect,
    /// Framed transport; the default from 0.7 on.
    #[arg(long, conflicts_with = "unframed")]
    framed: bool,
    /// Unframed transport; the default of 0.6.
    #[arg(long)]
    unframed: bool,
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Concurrent requests of each connection.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pipeline: u32,
    /// Threads of the connections. On two cores shared with the server a second thread adds a tenth to the rate and
    /// triples the 99th percentile.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,
    /// Seed of the keys, columns and values.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
pub(super) struct DoNothingArgs {
    /// Address to listen on; port 0 picks a free one. The bound address is printed.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub listen: String,
    /// Columns in each reply to `get_slice`.
    #[arg(long, default_value_t = 10)]
    pub columns: u32,
    /// Bytes of each column's value.
    #[arg(long, default_value_t = 34)]
    pub value_size: usize,
    /// Use the CQL native protocol instead of Thrift.
    #[arg(long)]
    pub native: bool,
    /// Keep a processor awake between requests in short intervals, as `serve` does.
    #[arg(long)]
    pub busy_poll: bool,
    /// Exit when standard input ends, so that the child does not outlive its parent.
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
    /// Do not write the rows: the server has them already.
    #[arg(long)]
    pub no_populate: bool,
    /// Let the do-nothing server keep a processor awake between requests, as `serve` does.
    #[arg(long)]
    pub busy_poll: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: WorkloadArgs,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Debug, Args)]
pub(super) struct NativeLoadArgs {
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
    /// Concurrent requests of each connection.
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
    /// The gateway, as HOST:PORT.
    #[arg(long, value_name = "HOST:PORT")]
    against: String,
    /// The cluster's nodes, as HOST:PORT,...
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',', required = true)]
    pub cluster: Vec<String>,
    /// Columns of a row.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=COLUMNS_MAX as i64))]
    columns: u32,
    /// Rounds of each operation, through the gateway and directly.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Seconds of each round.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: WorkloadArgs,
    #[command(flatten)]
    client: ClientArgs,
}

impl GatewayArgs {
    /// Returns the plan of one operation's rounds through the gateway.
    #[cfg_attr(not(feature = "driver"), allow(dead_code, reason = "only the driver has such rounds"))]
    pub(crate) fn plan(&self, operation: StressOperation) -> Result<StressPlan, String> {
        let shape = self.data.shape(self.columns, self.columns);
        let stop = Stop::After(duration(self.seconds)?);
        let plan = self.client.plan(resolve(&self.against)?, &self.data, shape, operation, stop);
        match plan.target.super_column {
            None => Ok(plan),
            Some(_) => {
                Err("the cost of a gateway is measured on a plain column family: remove --super".to_owned())
            }
        }
    }
}

impl NativeLoadArgs {
    pub(crate) fn address(&self) -> Result<SocketAddr, String> {
        resolve(&self.against)
    }

    pub(crate) fn round(&self) -> Result<Duration, String> {
        duration(self.seconds)
    }

    /// Returns the defaults, for tests.
    #[cfg(test)]
    pub fn of(address: &str) -> NativeLoadArgs {
        NativeLoadArgs {
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

/// Consistency levels with their numbers on the wire, which are the same for all servers except 0.4.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Consistency {
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
    pub(crate) fn plan(&self) -> Result<StressPlan, String> {
        let address = match &self.address {
            Some(address) => resolve(address)?,
            None => resolve(&format!("{}:{}", self.host, self.port))?,
        };
        let stop = match self.ops {
            Some(count) => Stop::Operations(count),
            None => Stop::After(duration(self.seconds)?),
        };
        let operation = match (self.operation, self.reversed) {
            (StressOperation::Slice, true) => StressOperation::SliceReversed,
            (operation, _) => operation,
        };
        let shape = self.data.shape(self.columns, self.columns);
        let plan = self.client.plan(address, &self.data, shape, operation, stop);
        if !plan.is_possible() {
            let why =
                "CQL 3 needs 1.2 or later and a plain column family: set --dialect 1.2 and remove --super";
            return Err(why.to_owned());
        }
        Ok(plan)
    }
}

impl CompareArgs {
    /// Returns the plan of one operation's rounds against the measured server.
    pub(crate) fn plan(&self, operation: StressOperation) -> Result<StressPlan, String> {
        let shape = self.data.shape(self.columns, self.batch_columns.min(self.columns));
        let stop = Stop::After(duration(self.seconds)?);
        Ok(self.client.plan(resolve(&self.against)?, &self.data, shape, operation, stop))
    }

    /// Returns the number of columns in a slice of a full row.
    pub(crate) fn columns_per_slice(&self) -> u32 {
        self.data.slice_count.unsigned_abs().min(self.columns)
    }
}

impl WorkloadArgs {
    fn shape(&self, columns: u32, batch_columns: u32) -> WorkloadShape {
        WorkloadShape {
            rows: self.rows,
            columns,
            batch_columns,
            value_bytes: self.value_size,
            slice_count: self.slice_count,
        }
    }

    fn target(&self, dialect: ThriftDialect) -> StressTarget {
        let default_family = if self.super_columns { "Super1" } else { "Standard1" };
        StressTarget {
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
        data: &WorkloadArgs,
        shape: WorkloadShape,
        operation: StressOperation,
        stop: Stop,
    ) -> StressPlan {
        let framed = self.framed || (self.dialect == ThriftDialect::Session && !self.unframed);
        StressPlan {
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

/// Returns the first address of HOST:PORT.
fn resolve(address: &str) -> Result<SocketAddr, String> {
    let mut found = address.to_socket_addrs().map_err(|error| format!("address '{address}': {error}"))?;
    found.next().ok_or_else(|| format!("address '{address}' has no IP address"))
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

    fn plan(line: &str) -> StressPlan {
        let words = ["stress"].into_iter().chain(line.split_whitespace());
        Tool::try_parse_from(words).unwrap().stress.load.plan().unwrap()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Tool::command().debug_assert();
        assert!(Tool::try_parse_from(["stress", "compare", "--against", "h:1", "--super"]).is_ok());
        assert!(Tool::try_parse_from(["stress", "do-nothing-server"]).is_ok());
        assert!(Tool::try_parse_from(["stress", "--framed", "--unframed"]).is_err());
        assert!(Tool::try_parse_from(["stress", "--ops", "1", "--seconds", "1"]).is_err());
    }

    #[test]
    fn the_dialect_sets_the_default_transport() {
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
        assert_eq!(reversed.operation, StressOperation::SliceReversed);
    }
}
