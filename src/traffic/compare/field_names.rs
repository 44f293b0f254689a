//! The names of the fields of results, for the places of differences.

/// What a value is made of.
#[derive(Debug, Clone, Copy)]
pub enum Names {
    Unknown,
    /// The fields of a struct.
    Fields(&'static [(i16, &'static str, Names)]),
    /// The elements of a list, or the values of a map.
    Each(&'static Names),
}

use Names::{Each, Fields, Unknown};

const COLUMN: Names =
    Fields(&[(1, "name", Unknown), (2, "value", Unknown), (3, "timestamp", Unknown), (4, "ttl", Unknown)]);
const SUPER_COLUMN: Names = Fields(&[(1, "name", Unknown), (2, "columns", Each(&COLUMN))]);
const EITHER: Names = Fields(&[
    (1, "column", COLUMN),
    (2, "super_column", SUPER_COLUMN),
    (3, "counter_column", COLUMN),
    (4, "counter_super_column", SUPER_COLUMN),
]);
const EITHERS: Names = Each(&EITHER);
const KEY_SLICE: Names = Fields(&[(1, "key", Unknown), (2, "columns", EITHERS)]);
const CAS_RESULT: Names = Fields(&[(1, "success", Unknown), (2, "current_values", Each(&COLUMN))]);
const CQL_ROW: Names = Fields(&[(1, "key", Unknown), (2, "columns", Each(&COLUMN))]);
const CQL_RESULT: Names =
    Fields(&[(1, "type", Unknown), (2, "rows", Each(&CQL_ROW)), (3, "num", Unknown), (4, "schema", Unknown)]);

impl Names {
    /// Returns the names of a method's result. Results of 0.3 have fields without names.
    pub fn of_result(method: &str) -> Names {
        match method {
            "get" => EITHER,
            "get_slice" | "get_multi_slice" => EITHERS,
            "multiget" => Each(&EITHER),
            "multiget_slice" => Each(&EITHERS),
            "get_range_slice" | "get_range_slices" | "get_indexed_slices" | "get_paged_slice" => {
                Each(&KEY_SLICE)
            }
            "cas" => CAS_RESULT,
            method if method.starts_with("execute_") => CQL_RESULT,
            _ => Unknown,
        }
    }

    /// Returns the name of a field and what it is made of.
    pub fn field(self, id: i16) -> (String, Names) {
        let found = match self {
            Fields(fields) => fields.iter().find(|(of, ..)| *of == id),
            _ => None,
        };
        found.map_or_else(|| (id.to_string(), Unknown), |(_, name, names)| ((*name).to_owned(), *names))
    }

    pub fn element(self) -> Names {
        match self {
            Each(names) => *names,
            _ => Unknown,
        }
    }
}
