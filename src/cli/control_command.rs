//! `thriftstore control`: sends a request to the control port of a server.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::http_port::HttpPort;
use crate::cli::Result;
use base::util::output;
use base::util::output::print_text;
use double::control::{ClockRequest, ControlClient, LoadBody, ResetRequest, ResetScope, SandboxRequest};

#[derive(Debug, Args)]
pub(super) struct ControlCommandArgs {
    /// The address of the control port, as the server prints it
    #[arg(value_name = "HOST:PORT")]
    address: String,
    /// A file whose first line is the token of the control port
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Send the request to a sandbox of the server
    #[arg(long, value_name = "NAME")]
    sandbox: Option<String>,
    #[command(subcommand)]
    request: ControlRequest,
}

#[derive(Debug, Subcommand)]
enum ControlRequest {
    /// Remove all rows, or return to the state at the start
    Reset {
        #[arg(default_value = "everything")]
        what: What,
    },
    /// Take a snapshot of rows, schema and users
    Snapshot { name: String },
    /// Return to a snapshot
    Restore { name: String },
    /// Delete a snapshot
    Delete { name: String },
    /// List the snapshots
    Snapshots,
    /// Open a sandbox: a further database with ports of its own
    OpenSandbox {
        name: String,
        /// The snapshot that it begins with [default: the state at the server's start]
        #[arg(long, value_name = "SNAPSHOT")]
        from: Option<String>,
        /// The release whose behaviour calls get, as the server's --compat; may be given once for each generation
        #[arg(long, value_name = "VERSION")]
        compat: Vec<String>,
        /// The version that the native protocol reports, as the server's --claim
        #[arg(long, value_name = "VERSION")]
        claim: Option<String>,
    },
    /// Delete a sandbox
    DeleteSandbox { name: String },
    /// List the sandboxes
    Sandboxes,
    /// Print the clock, or change it
    Clock {
        #[command(subcommand)]
        change: Option<ClockSubcommand>,
    },
    /// Load FILE.cql with statements, FILE.cli or FILE.txt with statements of cassandra-cli, or FILE.json with rows
    Load { file: PathBuf },
    /// Print all rows as JSON
    Dump,
    /// Set a rule of faults, such as '{"when": {"method": "insert"}, "error": "timed_out", "applied": true}'
    Fault {
        name: String,
        #[arg(value_name = "JSON")]
        rule: String,
    },
    /// Print the rules of faults, and their effects so far
    Faults,
    /// Remove a rule of faults
    RemoveFault { name: String },
    /// Print the last requests of clients
    Requests {
        /// Print each request when it ends, until the command is interrupted
        #[arg(long)]
        follow: bool,
        /// A condition, such as '{"method": "insert"}'
        #[arg(long, value_name = "JSON")]
        when: Option<String>,
    },
    /// Close all connections of clients and forget prepared statements, as a restart does
    Restart,
    /// Close new connections of clients at once
    Refuse,
    /// Accept connections again
    Accept,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    /// All rows. Schema and users stay
    Data,
    /// Rows, schema, users, and faults
    Everything,
    /// Rules of faults, and the list of requests
    Faults,
}

#[derive(Debug, Subcommand)]
enum ClockSubcommand {
    /// Stop the clock
    Freeze,
    /// Let a stopped clock run on from its time
    Unfreeze,
    /// Set the time, such as 2012-01-01T00:00:00Z
    Set { time: String },
    /// Move the time by milliseconds
    Advance {
        #[arg(allow_negative_numbers = true)]
        ms: i64,
    },
    /// Follow the system's clock again
    Follow,
}

/// A request of HTTP.
#[derive(Debug, PartialEq)]
struct HttpRequest {
    method: &'static str,
    path: String,
    content_type: &'static str,
    body: Vec<u8>,
}

impl HttpRequest {
    fn new(method: &'static str, path: impl Into<String>, body: impl Into<Vec<u8>>) -> HttpRequest {
        HttpRequest { method, path: path.into(), content_type: "application/json", body: body.into() }
    }

    fn get(path: &str) -> HttpRequest {
        HttpRequest::new("GET", path, "")
    }

    fn post(path: &str, json: &Value) -> HttpRequest {
        HttpRequest::new("POST", path, json.to_string())
    }

    fn delete(path: String) -> HttpRequest {
        HttpRequest::new("DELETE", path, "")
    }
}

impl ControlRequest {
    fn http(&self) -> Result<HttpRequest> {
        Ok(match self {
            ControlRequest::Reset { what } => {
                let what = match what {
                    What::Data => ResetScope::Data,
                    What::Everything => ResetScope::Everything,
                    What::Faults => ResetScope::Faults,
                };
                HttpRequest::post("/reset", &json!(ResetRequest { what }))
            }
            ControlRequest::Snapshot { name } => HttpRequest::new("PUT", named("snapshots", name)?, ""),
            ControlRequest::Restore { name } => {
                HttpRequest::new("POST", named("snapshots", name)? + "/restore", "")
            }
            ControlRequest::Delete { name } => HttpRequest::delete(named("snapshots", name)?),
            ControlRequest::Snapshots => HttpRequest::get("/snapshots"),
            ControlRequest::OpenSandbox { name, from, compat, claim } => {
                let (from, compat, claim) = (from.clone(), compat.clone(), claim.clone());
                let body = json!(SandboxRequest { from, compat, claim }).to_string();
                HttpRequest::new("PUT", named("sandboxes", name)?, body)
            }
            ControlRequest::DeleteSandbox { name } => HttpRequest::delete(named("sandboxes", name)?),
            ControlRequest::Sandboxes => HttpRequest::get("/sandboxes"),
            ControlRequest::Clock { change: None } => HttpRequest::get("/clock"),
            ControlRequest::Clock { change: Some(change) } => {
                HttpRequest::post("/clock", &json!(change.request()))
            }
            ControlRequest::Load { file } => {
                let name = file.display().to_string();
                let body = std::fs::read(file).map_err(|error| format!("cannot read {name}: {error}"))?;
                let content_type = LoadBody::content_type(&name).map_err(|error| error.to_string())?;
                HttpRequest { content_type, ..HttpRequest::new("POST", "/load", body) }
            }
            ControlRequest::Dump => HttpRequest::get("/dump"),
            ControlRequest::Fault { name, rule } => {
                HttpRequest::new("PUT", named("faults", name)?, rule.as_str())
            }
            ControlRequest::Faults => HttpRequest::get("/faults"),
            ControlRequest::RemoveFault { name } => HttpRequest::delete(named("faults", name)?),
            ControlRequest::Requests { follow, when } => {
                let path = if *follow { "/requests/stream" } else { "/requests/find" };
                let when = when.as_deref().unwrap_or("{}");
                let when: Value = serde_json::from_str(when)
                    .map_err(|error| format!("--when {when} is no JSON: {error}"))?;
                HttpRequest::post(path, &json!({"when": when}))
            }
            ControlRequest::Restart => HttpRequest::new("POST", "/restart", ""),
            ControlRequest::Refuse => HttpRequest::post("/connections", &json!({"refuse": true})),
            ControlRequest::Accept => HttpRequest::post("/connections", &json!({"refuse": false})),
        })
    }
}

/// Returns the path of a snapshot, a sandbox or a rule. The server checks the other letters of the name.
fn named(folder: &str, name: &str) -> Result<String> {
    if name.is_empty() || name.chars().any(|letter| !letter.is_ascii_graphic() || "/?#%".contains(letter)) {
        return Err(format!("{name:?} is no name: use letters, digits, hyphens and underscores"));
    }
    Ok(format!("/{folder}/{name}"))
}

impl ClockSubcommand {
    fn request(&self) -> ClockRequest {
        let none = ClockRequest::default();
        match self {
            ClockSubcommand::Freeze => ClockRequest { freeze: Some(true), ..none },
            ClockSubcommand::Unfreeze => ClockRequest { freeze: Some(false), ..none },
            ClockSubcommand::Set { time } => ClockRequest { set: Some(time.clone()), ..none },
            ClockSubcommand::Advance { ms } => ClockRequest { advance_ms: Some(*ms), ..none },
            ClockSubcommand::Follow => ClockRequest { follow: Some(true), ..none },
        }
    }
}

/// Sends the request, and prints the reply.
pub(super) fn control(args: &ControlCommandArgs) -> Result<()> {
    let port = HttpPort { option: "--control", host_option: "--control-host", name: "control port" };
    let token = port.token(None, args.token_file.as_deref())?;
    let mut request = args.request.http()?;
    if let Some(sandbox) = &args.sandbox {
        request.path = named("sandboxes", sandbox)? + &request.path;
    }
    let address = &args.address;
    let client = ControlClient::connect(address, token.as_ref().map(|token| token.reveal()));
    let client = client.map_err(|error| {
        format!("cannot connect to {address}: {error}; start a server with --ephemeral --control {address}")
    })?;
    let mut client = client.with_header("Content-Type", request.content_type);
    let unanswered = |error| format!("{address} has not answered: {error}");
    let reply = match args.request {
        ControlRequest::Requests { follow: true, .. } => {
            let mut printed = Ok(());
            let line = |line: &str| {
                printed = writeln!(std::io::stdout(), "{line}");
                printed.is_ok()
            };
            let refused = client.follow(request.method, &request.path, &request.body, line);
            match refused.map_err(unanswered)? {
                Some(reply) => reply,
                None => {
                    output::check(printed);
                    return Ok(());
                }
            }
        }
        _ => client.send(request.method, &request.path, &request.body).map_err(unanswered)?,
    };
    if reply.status != 200 {
        let json = serde_json::from_str::<Value>(&reply.body).unwrap_or_default();
        let why = json["error"].as_str().unwrap_or(reply.body.trim());
        return Err(format!("{address} answers {}: {why}", reply.status));
    }
    print_text!("{}", reply.body);
    Ok(())
}
