//! Archives of released versions can still be read.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::path::Path;
use std::process::Command;

use archive::ArchiveLocation;
use base::marshal::Types;

use crate::store_support::{close, open, scan_all};
use crate::{restore, verify};

#[test]
fn an_archive_of_format_1_is_read() {
    let place = tempfile::tempdir().unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/archive-1.tar.gz");
    let tar = Command::new("tar").arg("-xzf").arg(fixture).arg("-C").arg(place.path()).status();
    assert!(tar.unwrap().success());
    let archive =
        ArchiveLocation::open(&format!("file://{}/archive", place.path().display()), false).unwrap();
    let verified = verify(&archive);
    assert_eq!(
        (verified.damages, verified.full_backups, verified.parts, verified.tables),
        (Vec::new(), 2, 8, 1)
    );
    let catalog = config::parse(config::DEFAULT, "sample", &Types::builtin()).unwrap().catalog;
    let cf = catalog.column_family("Keyspace1", "Standard1").unwrap();
    let end_of_first_run = archive::parse_time("2026-11-28T17:56:53.800Z").unwrap();
    for (at_us, run, rows) in [(Some(end_of_first_run), 1, 1_563), (None, 2, 1_569)] {
        let target = place.path().join(format!("run{run}"));
        assert_eq!(restore(&archive, at_us, &target).unwrap().run, run);
        let store = open(&target, &catalog).unwrap();
        assert_eq!(scan_all(&store, cf).unwrap().len(), rows, "run {run}");
        close(store);
    }
}
