//! Sums that nobody has to read before adding to them.

use std::collections::BTreeMap;

use crate::cassandra::{
    ColumnOrSuperColumn, CounterColumn, InvalidRequestException, NotFoundException, TCassandraSyncClient,
};
use crate::library::{Library, ONE, Outcome};
use crate::words::{all, bytes, changes, entry, family, parent, path, readable, text};

fn counter(name: &str, value: i64) -> CounterColumn {
    CounterColumn::new(bytes(name), value)
}

impl Library {
    pub fn counters(&mut self) -> Outcome {
        let mut visits = family(&self.keyspace, "Visits")?;
        visits.comparator_type = Some("UTF8Type".to_owned());
        visits.default_validation_class = Some("CounterColumnType".to_owned());
        self.client.system_add_column_family(visits)?;

        let read = path("Visits", None, Some("read"));
        for by in [5, -2] {
            self.client.add(bytes("dune"), parent("Visits"), counter("read", by), ONE)?;
        }
        let found = self.client.get(bytes("dune"), read.clone(), ONE)?;
        self.check("a sum", found.counter_column.map(|counter| counter.value), Some(3))?;
        let add = |name, by| {
            entry(ColumnOrSuperColumn { counter_column: Some(counter(name, by)), ..Default::default() })
        };
        let adds = changes("Visits", vec![add("read", 10), add("lent", 1)]);
        self.client.batch_mutate(BTreeMap::from([(bytes("dune"), adds)]), ONE)?;
        let found = self.slice("dune", parent("Visits"), all())?;
        let sums = found.iter().flat_map(|entry| &entry.counter_column);
        let sums: Vec<_> = sums.map(|each| (readable(&each.name), each.value)).collect();
        self.check("two sums", sums, [("lent".to_owned(), 1), ("read".to_owned(), 13)])?;
        self.client.remove_counter(bytes("dune"), read.clone(), ONE)?;
        let outcome = self.client.get(bytes("dune"), read, ONE);
        self.refused::<NotFoundException, _>("a counter that is gone", outcome)?;
        let outcome = self.insert("dune", parent("Visits"), text("read", "1"));
        self.refused::<InvalidRequestException, _>("to write what counts", outcome)
    }
}
