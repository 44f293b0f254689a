//! The commands of a move talk to its proxy by files in the directory.
//!
//! ```text
//!   order.json     the order of a command, with a number          written by the command
//!   answer.json    the number, and how it ended                   written by the proxy
//!   status.json    the state of the proxy, every half second      written by the proxy
//!   steps.json     the steps that have succeeded                  written by the commands
//!   step.lock      locked by a backfill, a verify or a switch     an empty file
//! ```

use std::fs::{self, File};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::plan::MovePlan;
use crate::cli::Result;
use base::marshal::timestamp_text;
use base::util::output::print_line;
use traffic::handover::{Answering, Handover, SwitchOptions};
use traffic::queue::{QueueStatus, QueueTable};
use traffic::record::now_us;

/// The age of a status whose proxy does not run any more.
const OLD: Duration = Duration::from_secs(10);
/// The interval at which the proxy looks for orders, and writes its status.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const STATUS_EVERY: Duration = Duration::from_millis(500);
/// The time beyond that of an order for which its answer may take.
const SPARE: Duration = Duration::from_secs(20);

#[derive(Debug, Args)]
pub(super) struct SwitchArgs {
    /// The directory of the move
    directory: PathBuf,
    /// Switch although tables must be compared or copied again, or were never verified
    #[arg(long)]
    force: bool,
    /// The time for which clients may wait until the other server has all writes, in seconds. After that, everything stays
    /// as it was
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
}

/// The order of a command to the proxy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ProxyOrder {
    /// Let the new server answer.
    Cutover,
    /// Let the old server answer.
    Back,
    /// Forget these tables, which had to be compared again, unless they have changed meanwhile.
    ClearAgain(Vec<QueueTable>),
}

impl ProxyOrder {
    /// Returns the order as the log names it.
    fn name(&self) -> &'static str {
        match self {
            ProxyOrder::Cutover => "cutover",
            ProxyOrder::Back => "back",
            ProxyOrder::ClearAgain(_) => "clear-again",
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct OrderFile {
    number: i64,
    order: ProxyOrder,
    force: bool,
    patience_s: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct AnswerFile {
    number: i64,
    /// Why the order was not carried out; `None` if it was.
    error: Option<String>,
}

/// The state of a running proxy.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MoveStatus {
    at_us: i64,
    pub answering: Answering,
    pub to_new: QueueStatus,
    pub to_old: QueueStatus,
}

impl MoveStatus {
    /// Returns the age of the state.
    pub(super) fn age(&self) -> Duration {
        Duration::from_micros(u64::try_from(now_us().saturating_sub(self.at_us)).unwrap_or_default())
    }

    /// Returns the queue to the server that answers: its writes are from before the last switch.
    pub(super) fn other_queue(&self) -> &QueueStatus {
        match self.answering {
            Answering::Old => &self.to_old,
            Answering::New => &self.to_new,
        }
    }

    /// Returns the queue to the server that does not answer.
    pub(super) fn queue(&self) -> &QueueStatus {
        match self.answering {
            Answering::Old => &self.to_new,
            Answering::New => &self.to_old,
        }
    }
}

/// The steps that have succeeded, with their times.
type Steps = std::collections::BTreeMap<String, i64>;

fn read<T: DeserializeOwned>(directory: &Path, name: &str) -> Option<T> {
    serde_json::from_slice(&fs::read(directory.join(name)).ok()?).ok()
}

fn write(directory: &Path, name: &str, value: &impl Serialize) -> Result<()> {
    let path = directory.join(name);
    let new = path.with_extension("new");
    let json = serde_json::to_vec_pretty(value).map_err(|error| error.to_string())?;
    let written = fs::write(&new, json).and_then(|()| fs::rename(&new, &path));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Records that a step has succeeded.
pub(super) fn note(directory: &Path, step: &str) -> Result<()> {
    let mut steps: Steps = read(directory, "steps.json").unwrap_or_default();
    steps.insert(step.to_owned(), now_us());
    write(directory, "steps.json", &steps)
}

fn has_done(directory: &Path, step: &str) -> bool {
    read::<Steps>(directory, "steps.json").is_some_and(|steps| steps.contains_key(step))
}

/// Returns whether the move has ended.
pub(super) fn is_finished(directory: &Path) -> bool {
    has_done(directory, "finished")
}

/// Returns the state of the proxy.
///
/// # Errors
///
/// If it does not run.
pub(super) fn running(directory: &Path) -> Result<MoveStatus> {
    let status = read::<MoveStatus>(directory, "status.json");
    status.filter(|status| status.age() < OLD).ok_or_else(|| {
        format!(
            "the proxy does not run: start it with `thriftstore move start {} --listen HOST:PORT`",
            directory.display()
        )
    })
}

/// Lets no other step begin until the file is dropped. A repair that runs while the servers switch would undo writes of the
/// new server, and a copy would set its counters back.
///
/// # Errors
///
/// If another step runs, or the directory has no plan.
pub(super) fn lock_steps(directory: &Path) -> Result<File> {
    MovePlan::read(directory)?;
    let path = directory.join("step.lock");
    let file = File::create(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    file.try_lock().map_err(|_| {
        format!(
            "another step of the move in {} is running: wait until it ends, or stop it",
            directory.display()
        )
    })?;
    Ok(file)
}

/// Gives an order to the proxy, and waits until it is carried out.
pub(super) fn order(directory: &Path, order: ProxyOrder, force: bool, patience: Duration) -> Result<()> {
    running(directory)?;
    let number = now_us();
    write(directory, "order.json", &OrderFile { number, order, force, patience_s: patience.as_secs() })?;
    let end = Instant::now() + patience + SPARE;
    while Instant::now() < end {
        if let Some(answer) =
            read::<AnswerFile>(directory, "answer.json").filter(|answer| answer.number == number)
        {
            return answer.error.map_or(Ok(()), Err);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Err("the proxy has not answered".to_owned())
}

/// Runs in the proxy: carries out orders, and writes the status, also while an order takes its time.
pub(super) async fn serve(directory: PathBuf, handover: Arc<Handover>) {
    tokio::join!(write_statuses(&directory, &handover), take_orders(&directory, &handover));
}

async fn write_statuses(directory: &Path, handover: &Handover) {
    loop {
        write_status(directory, handover);
        tokio::time::sleep(STATUS_EVERY).await;
    }
}

fn write_status(directory: &Path, handover: &Handover) {
    let status = MoveStatus {
        at_us: now_us(),
        answering: handover.answering(),
        to_new: handover.to_new.status(),
        to_old: handover.to_old.status(),
    };
    if let Err(error) = write(directory, "status.json", &status) {
        tracing::error!("the state of the move is not written: {error}");
    }
}

async fn take_orders(directory: &Path, handover: &Handover) {
    // An order from before the start is not carried out.
    let mut last = read::<OrderFile>(directory, "order.json").map(|order| order.number);
    loop {
        let order = read::<OrderFile>(directory, "order.json").filter(|order| Some(order.number) != last);
        if let Some(order) = order {
            last = Some(order.number);
            let error = carry_out(handover, &order).await.err();
            let name = order.order.name();
            match &error {
                None => tracing::info!("the order {name} is carried out"),
                Some(error) => tracing::warn!("the order {name} is not carried out: {error}"),
            }
            // The next command must not read the state from before the order.
            write_status(directory, handover);
            if let Err(error) = write(directory, "answer.json", &AnswerFile { number: order.number, error }) {
                tracing::error!("the state of the move is not written: {error}");
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn carry_out(handover: &Handover, order: &OrderFile) -> Result<()> {
    let options = SwitchOptions { patience: Duration::from_secs(order.patience_s), force: order.force };
    match &order.order {
        ProxyOrder::Cutover => handover.switch(Answering::New, options).await,
        ProxyOrder::Back => handover.switch(Answering::Old, options).await,
        ProxyOrder::ClearAgain(compared) => {
            // A forced comparison settles the list of the other direction, too.
            let queues = [&handover.to_new, &handover.to_old];
            let cleared = queues.into_iter().try_for_each(|queue| queue.clear_again(compared));
            cleared.map_err(|error| error.to_string())
        }
    }
}

/// `move cutover` and `move back`.
pub(super) fn switch(args: &SwitchArgs, to: &ProxyOrder) -> Result<()> {
    let directory = &args.directory;
    let _lock = lock_steps(directory)?;
    if *to == ProxyOrder::Cutover && !has_done(directory, "verified") && !args.force {
        return Err(format!(
            "the servers were not compared: run `thriftstore move verify {}` first, or use --force",
            directory.display()
        ));
    }
    let [old, new] = MovePlan::read(directory)?.addresses()?;
    let next = if *to == ProxyOrder::Cutover { new } else { old };
    if let Err(error) = TcpStream::connect(&next.address) {
        return Err(format!("cannot connect to {}, which would answer: {error}", next.address));
    }
    order(directory, to.clone(), args.force, Duration::from_secs(args.patience))?;
    match to {
        ProxyOrder::Cutover => {
            print_line!("the new server answers; the old one gets the writes, for the way back")
        }
        ProxyOrder::Back | ProxyOrder::ClearAgain(_) => {
            print_line!("the old server answers; the new one gets the writes")
        }
    }
    Ok(())
}

/// `move status`.
pub(super) fn status(directory: &Path) -> Result<()> {
    let steps: Steps = read(directory, "steps.json").unwrap_or_default();
    for (step, at_us) in &steps {
        print_line!("{step}: {}", timestamp_text(at_us.div_euclid(1000)));
    }
    let status = running(directory)?;
    match status.answering {
        Answering::Old => print_line!("the old server answers; the new one gets the writes"),
        Answering::New => print_line!("the new server answers; the old one gets the writes"),
    }
    for (name, queue) in [("to the new server", &status.to_new), ("to the old server", &status.to_old)] {
        print_line!(
            "writes {name}: {} sent, {} waiting ({} bytes, the oldest for {} s)",
            queue.sent,
            queue.unsent,
            queue.bytes,
            queue.oldest_s
        );
        if let Some(trouble) = &queue.trouble {
            print_line!("  they are not sent: {trouble}");
        }
        for table in &queue.again {
            let error = if table.error.is_empty() { String::new() } else { format!(": {}", table.error) };
            print_line!(
                "  compare again: {} ({} writes): {}{error}",
                table.shown(),
                table.writes,
                table.reason.text()
            );
        }
    }
    Ok(())
}

/// `move finish`.
pub(super) fn finish(directory: &Path) -> Result<()> {
    let status = running(directory)?;
    if status.answering != Answering::New {
        return Err("the old server answers: `thriftstore move cutover` comes first".to_owned());
    }
    note(directory, "finished")?;
    print_line!(
        "finished: let the application connect to the new server itself, then stop the proxy, and shut the old server down. \
         Writes that still pass the proxy go to the old server until it stops"
    );
    Ok(())
}
