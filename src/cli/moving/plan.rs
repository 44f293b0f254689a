//! `move plan`: the two servers of a move, and what will not move.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::super::data;
use crate::cli::Result;
use base::marshal::Types;
use base::util::Clock;
use base::util::output::print_line;
use config::Config;
use net::ServerTrust;
use transfer::copy::{Selection, compare_schemas};
use transfer::endpoint;
use transfer::endpoint::{Endpoint, Location, OpenOptions, ThriftAddress};

/// The version of the file.
const FORMAT: u32 = 1;

#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    /// The directory of the move, which is created
    directory: PathBuf,
    /// The old server: `thrift:HOST:PORT`, with the options of `copy`
    #[arg(long, value_name = "WHERE")]
    from: Location,
    /// The old server's address of the native protocol, if clients use it
    #[arg(long, value_name = "HOST:PORT")]
    from_cql: Option<String>,
    /// The new server: `thrift:HOST:PORT`. It must be running
    #[arg(long, value_name = "WHERE")]
    to: Location,
    /// The new server's address of the native protocol, if clients use it
    #[arg(long, value_name = "HOST:PORT")]
    to_cql: Option<String>,
}

/// The plan of a move, as its file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MovePlan {
    format: u32,
    /// The old server, as `--from` names it.
    pub from: String,
    pub from_cql: Option<String>,
    /// The new server, as `--to` names it.
    pub to: String,
    pub to_cql: Option<String>,
}

/// Both servers of a move.
pub(super) struct Servers {
    pub from: Arc<Endpoint>,
    pub to: Arc<Endpoint>,
    pub clock: Arc<Clock>,
}

impl MovePlan {
    /// Reads the plan of a directory.
    pub(super) fn read(directory: &Path) -> Result<MovePlan> {
        let path = directory.join("plan.json");
        let json = fs::read(&path).map_err(|error| {
            format!("cannot read {}: {error}; `thriftstore move plan` writes it", path.display())
        })?;
        let plan: MovePlan = serde_json::from_slice(&json)
            .map_err(|error| format!("{} is not a plan: {error}", path.display()))?;
        if plan.format != FORMAT {
            return Err(format!(
                "{} has format {}, and this version reads {FORMAT}",
                path.display(),
                plan.format
            ));
        }
        Ok(plan)
    }

    fn write(&self, directory: &Path) -> Result<()> {
        let path = directory.join("plan.json");
        let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
        fs::create_dir_all(directory).map_err(failed)?;
        let json = serde_json::to_vec_pretty(self).map_err(|error| error.to_string())?;
        fs::write(&path, json).map_err(failed)
    }

    /// Returns the addresses of both servers.
    pub(super) fn addresses(&self) -> Result<[ThriftAddress; 2]> {
        Ok([thrift(&self.from.parse()?)?.clone(), thrift(&self.to.parse()?)?.clone()])
    }

    /// Reads the schema of both servers.
    pub(super) async fn open(&self, types: &Types) -> Result<Servers> {
        let clock = Arc::new(Clock::system());
        let config = Config::default();
        let open = async |place: &str| {
            let options = OpenOptions {
                config: &config,
                types,
                clock: clock.clone(),
                cluster: None,
                keyspace: None,
                creates: false,
            };
            let place: Location = place.parse()?;
            endpoint::open(&place, &options).await.map(Arc::new).map_err(|error| error.to_string())
        };
        let (from, to) = (open(&self.from).await?, open(&self.to).await?);
        Ok(Servers { from, to, clock })
    }
}

fn thrift(place: &Location) -> Result<&ThriftAddress> {
    match place {
        Location::Thrift(address) => Ok(address),
        other => Err(format!("{other} is not a Thrift server: use thrift:HOST:PORT")),
    }
}

pub(super) fn plan(args: &PlanArgs, types: &Types) -> Result<()> {
    let to = thrift(&args.to)?;
    let from = thrift(&args.from)?;
    if from.address == to.address {
        return Err(format!("{} is both the old and the new server", to.address));
    }
    if [from, to].into_iter().any(|side| side.is_keyed && side.login.is_some()) {
        return Err("a login at a server of 0.6 is for one keyspace, but a move has several: let the server accept all \
                    clients (AllowAllAuthenticator) during the move"
            .to_owned());
    }
    let plan = MovePlan {
        format: FORMAT,
        from: given(from),
        from_cql: args.from_cql.clone(),
        to: given(to),
        to_cql: args.to_cql.clone(),
    };
    if args.directory.join("plan.json").exists() {
        return Err(format!("{} has a plan already: use another directory", args.directory.display()));
    }
    data::run(async {
        let servers = plan.open(types).await?;
        print_plan(&servers)?;
        plan.write(&args.directory)
    })?;
    let directory = args.directory.display();
    print_line!("\nThe plan is in {directory}. Next: thriftstore move start {directory} --listen HOST:PORT");
    Ok(())
}

/// Returns a path that the next command finds from any directory.
fn absolute(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned())
}

/// Returns a server with its options, as the next command reads it.
fn given(address: &ThriftAddress) -> String {
    let mut text = format!("thrift:{}", address.address);
    let transport = match address.transport {
        wire::thrift::frame::Transport::Framed => "framed",
        wire::thrift::frame::Transport::Unframed => "unframed",
    };
    text += &format!("?{transport}");
    if address.is_keyed {
        text += "&version=0.6";
    }
    if let Some((user, file)) = &address.login {
        text += &format!("&user={user}&password-file={}", absolute(file).display());
    }
    if let Some(ServerTrust { authorities, own }) = &address.tls {
        text += &format!("&tls-ca={}", absolute(authorities).display());
        if let Some((certificate, key)) = own {
            let (certificate, key) = (absolute(certificate), absolute(key));
            text += &format!("&tls-certificate={}&tls-key={}", certificate.display(), key.display());
        }
    }
    text
}

/// Prints the column families, and what will not move.
fn print_plan(servers: &Servers) -> Result<()> {
    let Servers { from, to, .. } = servers;
    let compared = compare_schemas(from, to, &Selection::default()).map_err(|error| error.to_string())?;
    let order = |side: &Endpoint| {
        side.partitioner.as_ref().map_or_else(|| "unknown".to_owned(), |of| of.class_name().to_owned())
    };
    print_line!("from  {}, partitioner {}", from.name, order(from));
    print_line!("to    {}, partitioner {}", to.name, order(to));
    if !from.is_in_order_of(to) {
        print_line!(
            "note: pages of rows come in another order, which applications that read ranges may notice"
        );
    }
    print_line!("\n{} column families:", compared.families.len());
    for cf in &compared.families {
        let name = format!("{}.{}", cf.keyspace, cf.name);
        let state = if compared.missing.contains(&name) {
            "will be created"
        } else {
            "is there, with the same schema"
        };
        let kind = if cf.is_counter() { "counters" } else { cf.type_name() };
        print_line!("  {name}: {kind}, {}: {state}", cf.comparator.class_name());
    }
    if compared.families.iter().any(|cf| cf.is_counter()) {
        print_line!(
            "note: counters are added on both sides, and set right by `move verify` while nobody adds to them"
        );
    }
    print_line!(
        "\nNot moved: users, roles and permissions; materialized views, functions and \
         triggers. Conditional writes are not sent to the other server: `move verify` repairs their rows"
    );
    Ok(())
}
