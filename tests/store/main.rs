//! The embedded store: scripts, a reference model, crashes, damage, backup, and directories of earlier versions.

mod backup;
mod backup_steps;
#[path = "../support/backup/mod.rs"]
mod backup_support;
mod backup_while_serving;
mod bulk_load;
#[path = "../support/busy_store.rs"]
mod busy_store;
mod corruption;
#[path = "../counting_disk/mod.rs"]
mod counting_disk;
mod crash_points;
mod damage;
mod disk_full;
mod embedded;
#[path = "../faulty_disk/mod.rs"]
mod faulty_disk;
mod fixture;
mod kills;
mod kills_of_counters;
mod memory;
mod model;
#[path = "../reference_model/mod.rs"]
mod reference_model;
mod schema_sizes;
mod scripts;
#[path = "../support/skip.rs"]
mod skip;
#[path = "../support/store/mod.rs"]
mod store_support;
#[path = "../support/mod.rs"]
mod support;
