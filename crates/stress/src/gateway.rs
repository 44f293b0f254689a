//! Measures the cost of a gateway: single columns over Thrift through the gateway, and the same statements by the
//! driver directly to the cluster, in alternating rounds.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::Consistency as Level;
use scylla::statement::prepared::PreparedStatement;
use tokio::runtime::Runtime;

use super::args::{Consistency, GatewayArgs};
use super::reply::StressFailure;
use super::report;
use super::rounds::{self, RoundRow, Rounds};
use super::run::{self, Budget, RunOutcome, StressPlan};
use super::tally::ReplyTally;
use super::workload::{StressCall, StressOperation, Workload};
use base::util::output::{report_line, report_text};

/// The compared operations.
const OPERATIONS: [(&str, StressOperation); 2] =
    [("insert", StressOperation::Insert), ("get", StressOperation::Read)];

/// Fills the rows through the gateway, runs the rounds and prints the table.
pub(crate) fn compare(args: &GatewayArgs) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let direct = Direct::open(args, runtime.map_err(|error| format!("start a client: {error}"))?)?;
    let filled = run::execute(&args.plan(StressOperation::Populate)?.populating())?;
    report_text!("{}", report::populated(&filled));
    let mut rows = Vec::new();
    for (name, operation) in OPERATIONS {
        let plan = args.plan(operation)?;
        let (mut limit, mut server) = (Rounds::default(), Rounds::default());
        for round in 0..args.rounds {
            if round % 2 == 0 {
                limit.add(&direct.execute(&plan)?);
                server.add(&run::execute(&plan)?);
            } else {
                server.add(&run::execute(&plan)?);
                limit.add(&direct.execute(&plan)?);
            }
        }
        rows.push(RoundRow { name, limit, server });
    }
    rounds::print("driver", &rows, args.json);
    Ok(())
}

/// The driver, and the statements that a gateway sends.
struct Direct {
    runtime: Runtime,
    session: Arc<Session>,
    insert: PreparedStatement,
    get: PreparedStatement,
}

impl Direct {
    fn open(args: &GatewayArgs, runtime: Runtime) -> Result<Direct, String> {
        let plan = args.plan(StressOperation::Insert)?;
        let name = format!("\"{}\".\"{}\"", plan.target.keyspace, plan.target.column_family);
        let level = level(args.data.consistency)?;
        let opened = runtime.block_on(async {
            let profile = ExecutionProfile::builder().consistency(level).build();
            let session = SessionBuilder::new()
                .known_nodes(&args.cluster)
                .default_execution_profile_handle(profile.into_handle())
                .build()
                .await
                .map_err(|error| format!("connect to the cluster: {error}"))?;
            let prepare = async |text: String| {
                let prepared = session.prepare(text).await;
                prepared.map_err(|error| format!("prepare a statement (does {name} exist?): {error}"))
            };
            let insert = prepare(format!(
                "INSERT INTO {name} (key, column1, value) VALUES (?, ?, ?) USING TIMESTAMP ?"
            ))
            .await?;
            let get = prepare(format!(
                "SELECT column1, value, WRITETIME(value), TTL(value) FROM {name} WHERE key = ? AND column1 = ?"
            ))
            .await?;
            Ok::<_, String>((session, insert, get))
        });
        let (session, insert, get) = opened?;
        Ok(Direct { runtime, session: Arc::new(session), insert, get })
    }

    /// Runs the plan with as many concurrent requests as its connections have.
    fn execute(&self, plan: &StressPlan) -> Result<RunOutcome, String> {
        let start = Instant::now();
        let budget = Arc::new(Budget::starting(plan.stop, start));
        let tally = Arc::new(Mutex::new(ReplyTally::default()));
        self.runtime.block_on(async {
            let mut clients = Vec::new();
            for index in 0..plan.connections * plan.pipeline {
                let workload = Workload::new(plan.operation, &plan.shape, plan.seed, index);
                let client = GatewayClient {
                    session: self.session.clone(),
                    statement: if plan.operation == StressOperation::Insert {
                        &self.insert
                    } else {
                        &self.get
                    }
                    .clone(),
                    operation: plan.operation,
                    workload,
                };
                clients.push(tokio::spawn(client.drive(budget.clone(), tally.clone())));
            }
            for client in clients {
                client.await.map_err(|error| format!("a client stopped: {error}"))?;
            }
            Ok::<(), String>(())
        })?;
        let elapsed = start.elapsed();
        let tally = Arc::into_inner(tally).and_then(|tally| tally.into_inner().ok()).unwrap_or_default();
        Ok(RunOutcome { elapsed, tally })
    }
}

/// Returns a consistency level as a type of the driver.
fn level(consistency: Consistency) -> Result<Level, String> {
    Ok(match consistency {
        Consistency::Any => Level::Any,
        Consistency::One => Level::One,
        Consistency::Two => Level::Two,
        Consistency::Three => Level::Three,
        Consistency::Quorum => Level::Quorum,
        Consistency::All => Level::All,
        Consistency::LocalQuorum => Level::LocalQuorum,
        Consistency::EachQuorum => Level::EachQuorum,
        Consistency::LocalOne => Level::LocalOne,
        Consistency::Zero => return Err("current clusters have no consistency level ZERO".to_owned()),
    })
}

/// A client with one request at a time.
struct GatewayClient {
    session: Arc<Session>,
    statement: PreparedStatement,
    operation: StressOperation,
    workload: Workload,
}

impl GatewayClient {
    async fn drive(mut self, budget: Arc<Budget>, whole: Arc<Mutex<ReplyTally>>) {
        let mut tally = ReplyTally::default();
        loop {
            let asked = Instant::now();
            if budget.take(asked).is_none() {
                break;
            }
            match self.ask().await {
                Ok(columns) => {
                    let call = if self.operation == StressOperation::Insert {
                        StressCall::Insert
                    } else {
                        StressCall::Get
                    };
                    tally.success(call, asked.elapsed(), columns);
                }
                Err(text) => tally.failure(StressFailure { kind: "driver", text }),
            }
        }
        if let Ok(mut whole) = whole.lock()
            && let Err(error) = whole.merge(tally)
        {
            report_line!("{error}");
        }
    }

    /// Sends a request. Returns the number of columns in the reply.
    async fn ask(&mut self) -> Result<usize, String> {
        let (key, name, value, timestamp) = self.workload.cell();
        if self.operation == StressOperation::Insert {
            let values = (&key[..], &name[..], value, timestamp);
            self.session.execute_unpaged(&self.statement, values).await.map_err(|error| error.to_string())?;
            return Ok(0);
        }
        let read = self.session.execute_unpaged(&self.statement, (&key[..], &name[..])).await;
        let rows =
            read.map_err(|error| error.to_string())?.into_rows_result().map_err(|error| error.to_string())?;
        Ok(rows.rows_num())
    }
}
