//! Writes that depend on what is there, batches of all or nothing, and the later ways to read.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cassandra::{
    ColumnSlice, ConsistencyLevel, IndexOperator, MultiSliceRequest, TCassandraSyncClient,
};
use crate::library::{Library, ONE, Outcome};
use crate::words::{
    all, bytes, changes, column, columns, expression, pairs, parent, readable, rows, text, write,
};

impl Library {
    fn cas(&mut self, expected: &[&str], value: &str) -> Outcome<String> {
        let keepers = expected.iter().map(|each| text("keeper", each)).collect();
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros();
        let update = vec![column("keeper", bytes(value), i64::try_from(now)?)];
        let (serial, quorum) = (ConsistencyLevel::SERIAL, ConsistencyLevel::QUORUM);
        let result = self.client.cas(bytes("desk"), "Books".to_owned(), keepers, update, serial, quorum)?;
        let current = result.current_values.unwrap_or_default();
        Ok(if result.success { "done".to_owned() } else { pairs(&current) })
    }

    pub fn compare_and_set(&mut self) -> Outcome {
        for (what, expected, value, outcome) in [
            ("the first", &[][..], "ada", "done"),
            ("comes first", &[], "bob", "keeper=ada"),
            ("not if another is there", &["eve"], "bob", "keeper=ada"),
            ("but if she is", &["ada"], "bob", "done"),
        ] {
            let found = self.cas(expected, value)?;
            self.check(what, found, outcome)?;
        }
        let desk = self.slice("desk", parent("Books"), all())?;
        self.check("so it is him", columns(&desk), "keeper=bob")
    }

    pub fn new_reads(&mut self) -> Outcome {
        let letters = "abcdefgh".split("").filter(|letter| !letter.is_empty());
        let letters = letters.map(|letter| write(text(letter, ""))).collect();
        let batch = BTreeMap::from([
            (bytes("abc"), changes("Books", letters)),
            (bytes("xyz"), changes("Books", vec![write(text("shelf", "z"))])),
        ]);
        self.client.atomic_batch_mutate(batch, ONE)?;

        let slices = [("b", "d"), ("c", "e"), ("h", "")];
        let slices: Vec<_> =
            slices.iter().map(|(start, finish)| ColumnSlice::new(bytes(start), bytes(finish))).collect();
        let several = MultiSliceRequest::new(bytes("abc"), parent("Books"), slices, false, 10, ONE);
        let found = self.client.get_multi_slice(several)?;
        self.check("several ranges", columns(&found), "b= c= d= e= h=")?;

        let found =
            self.client.get_paged_slice("Books".to_owned(), rows("abc", "abc", 4), bytes("c"), ONE)?;
        let found: Vec<_> = found.iter().map(|row| columns(&row.columns)).collect();
        self.check("from a column on", found, ["c= d= e= f="])?;

        let mut filtered = rows("", "", 100);
        filtered.row_filter = Some(vec![expression("shelf", IndexOperator::EQ, bytes("z"))]);
        let found = self.client.get_range_slices(parent("Books"), all(), filtered, ONE)?;
        let found: Vec<_> =
            found.iter().map(|row| readable(&row.key) + ": " + &columns(&row.columns)).collect();
        self.check("a filter", found, ["xyz: shelf=z"])
    }
}
