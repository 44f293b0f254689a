//! The counts of requests since the start.

use base::util::metrics::{MethodTotals, RequestSlot};
use db::Database;
use server::thrift::request_slots;
use wire::native::{RequestCode, UNREADABLE};

/// Returns the counts of the methods that had requests.
pub(super) fn requests(database: &Database) -> Vec<(RequestSlot, MethodTotals)> {
    let native = RequestCode::WITH_STATEMENT.map(RequestCode::slot);
    let slots = native.iter().chain([&UNREADABLE]).chain(request_slots()).copied();
    slots.filter_map(|slot| Some((slot, database.metrics().requests.totals(slot.number)?))).collect()
}
