//! The state and the operations of the control API, without HTTP.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::{ControlError, ErrorKind};
use super::reset_scope::ResetScope;
use super::sandboxes::Sandboxes;
use super::snapshot_reply::SnapshotReply;
use crate::control::Result;
use crate::limits::{SNAPSHOT_NAME_CHARS_MAX, SNAPSHOTS_MAX};
use base::util::meter::RequestLimits;
use base::util::{ClockChange, ClockState, process_memory};
use db::faults::Faults;
use db::{Database, DatabaseSnapshot, Snapshots};

/// The limits of all snapshots together.
#[derive(Debug, Clone, Copy)]
pub struct SnapshotLimits {
    /// Their number.
    pub snapshots_max: usize,
    /// Memory of the rows in all snapshots, in bytes. Rows that they share are counted once.
    pub bytes_max: usize,
}

impl Default for SnapshotLimits {
    /// Returns `SNAPSHOTS_MAX`, and half of the memory that the process may use.
    fn default() -> SnapshotLimits {
        let bytes_max = process_memory::limit().map_or(usize::MAX, |limit| limit / 2);
        SnapshotLimits { snapshots_max: SNAPSHOTS_MAX, bytes_max }
    }
}

/// A database in memory that tests control.
pub struct Control {
    pub(super) database: Arc<Database>,
    /// The memory that loaded data may hold.
    pub(super) requests: RequestLimits,
    /// The state to which `reset` returns.
    startup: DatabaseSnapshot,
    /// Locked during each change of the snapshots.
    snapshots: tokio::sync::Mutex<BTreeMap<String, DatabaseSnapshot>>,
    limits: SnapshotLimits,
    /// `None` in a sandbox, and in a server without a control port.
    sandboxes: Option<Sandboxes>,
}

impl Control {
    /// Takes the current state as the start-up state.
    ///
    /// # Errors
    /// `Invalid` if the database has no gate, no snapshots, or a clock that cannot be changed.
    pub async fn new(database: Arc<Database>, limits: SnapshotLimits) -> Result<Control> {
        if database.clock().state().is_none() {
            return Err(fixed_clock());
        }
        let startup = snapshots_of(&database)?.take().await?;
        let requests = RequestLimits::default();
        let snapshots = tokio::sync::Mutex::default();
        Ok(Control { database, requests, startup, snapshots, limits, sandboxes: None })
    }

    /// Returns the same control with sandboxes.
    #[must_use]
    pub fn with_sandboxes(self, sandboxes: Sandboxes) -> Control {
        Control { sandboxes: Some(sandboxes), ..self }
    }

    /// Returns the database.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// Removes rows, or returns to the start-up state.
    pub async fn reset(&self, scope: ResetScope) -> Result<()> {
        let snapshots = snapshots_of(&self.database)?;
        match scope {
            ResetScope::Data => snapshots.clear().await?,
            ResetScope::Everything => {
                // First, because requests that are delayed would make the restore wait.
                self.faults()?.clear();
                snapshots.restore(&self.startup).await?;
                // Requests that have ended meanwhile have added themselves.
                self.faults()?.journal.clear();
            }
            ResetScope::Faults => self.faults()?.clear(),
        }
        Ok(())
    }

    /// Takes a snapshot with a name. It replaces an earlier one of this name.
    pub async fn take_snapshot(&self, name: &str) -> Result<SnapshotReply> {
        check_name("snapshot", name)?;
        let mut snapshots = self.snapshots.lock().await;
        if snapshots.len() >= self.limits.snapshots_max && !snapshots.contains_key(name) {
            return Err(ControlError::new(
                ErrorKind::Limit,
                format!(
                    "there are {} snapshots, the limit: delete one with DELETE /snapshots/NAME",
                    snapshots.len()
                ),
            ));
        }
        let taken = snapshots_of(&self.database)?.take().await?;
        let others = snapshots.iter().filter(|(other, _)| *other != name).map(|(_, snapshot)| snapshot);
        let bytes = DatabaseSnapshot::bytes_of(others.chain([&self.startup, &taken]));
        if bytes > self.limits.bytes_max {
            return Err(ControlError::new(
                ErrorKind::Limit,
                format!(
                    "with this snapshot all snapshots would hold {} MB, the limit is {} MB: delete others with DELETE \
                     /snapshots/NAME, or store less",
                    bytes >> 20,
                    self.limits.bytes_max >> 20
                ),
            ));
        }
        let reply = SnapshotReply::new(name, &taken);
        snapshots.insert(name.to_owned(), taken);
        Ok(reply)
    }

    /// Returns to a snapshot.
    pub async fn restore(&self, name: &str) -> Result<SnapshotReply> {
        let snapshot = self.snapshots.lock().await.get(name).cloned().ok_or_else(|| unknown(name))?;
        snapshots_of(&self.database)?.restore(&snapshot).await?;
        Ok(SnapshotReply::new(name, &snapshot))
    }

    /// Returns all snapshots in the order of their names.
    pub async fn snapshots(&self) -> Vec<SnapshotReply> {
        let snapshots = self.snapshots.lock().await;
        snapshots.iter().map(|(name, snapshot)| SnapshotReply::new(name, snapshot)).collect()
    }

    /// Deletes a snapshot.
    pub async fn delete_snapshot(&self, name: &str) -> Result<()> {
        let removed = self.snapshots.lock().await.remove(name);
        // Freeing its rows can take long.
        let removed = removed.ok_or_else(|| unknown(name))?;
        tokio::task::spawn_blocking(move || drop(removed));
        Ok(())
    }

    /// Returns the sandboxes.
    pub(super) fn sandboxes(&self) -> Result<&Sandboxes> {
        self.sandboxes.as_ref().ok_or_else(|| {
            ControlError::invalid(
                "a sandbox has no sandboxes: send the request without /sandboxes/NAME in front",
            )
        })
    }

    /// Opens a further database with the state of a snapshot, or of the start.
    pub async fn further_database(&self, from: Option<&str>) -> Result<Arc<Database>> {
        let named = match from {
            Some(name) => Some(self.snapshots.lock().await.get(name).cloned().ok_or_else(|| unknown(name))?),
            None => None,
        };
        Ok(snapshots_of(&self.database)?.open(named.as_ref().unwrap_or(&self.startup))?)
    }

    /// Returns faults and the journal.
    pub fn faults(&self) -> Result<&Faults> {
        self.database
            .faults()
            .map(|faults| &**faults)
            .ok_or_else(|| ControlError::invalid("this server has no faults"))
    }

    /// Returns the state of the clock.
    pub fn clock(&self) -> Result<ClockState> {
        self.database.clock().state().ok_or_else(fixed_clock)
    }

    /// Changes the clock.
    pub fn change_clock(&self, change: ClockChange) -> Result<ClockState> {
        self.database.clock().change(change).ok_or_else(fixed_clock)
    }
}

fn snapshots_of(database: &Arc<Database>) -> Result<Snapshots<'_>> {
    database.snapshots().ok_or_else(|| ControlError::invalid("only a store in memory has snapshots"))
}

fn fixed_clock() -> ControlError {
    ControlError::invalid("the clock of this server cannot be changed")
}

/// Checks the name of a snapshot, a sandbox or a rule.
pub(super) fn check_name(of: &str, name: &str) -> Result<()> {
    let is_plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    let is_dots = name.chars().all(|letter| letter == '.');
    if is_dots || name.len() > SNAPSHOT_NAME_CHARS_MAX || !is_plain {
        return Err(ControlError::invalid(format!(
            "a {of}'s name has 1 to {SNAPSHOT_NAME_CHARS_MAX} letters, digits, hyphens, underscores and full stops, and \
             not only full stops"
        )));
    }
    Ok(())
}

fn unknown(name: &str) -> ControlError {
    ControlError::new(
        ErrorKind::NotFound,
        format!("there is no snapshot {name:?}: GET /snapshots lists them, PUT /snapshots/NAME takes one"),
    )
}
