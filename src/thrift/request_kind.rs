//! Which time limit a call has.

use crate::util::meter::RequestKind;

/// What a call does, as far as time limits tell calls apart. `None` for those that have none (schema, login) and for
/// statements, which know it themselves.
pub fn request_kind(method: &str) -> Option<RequestKind> {
    match method {
        "get"
        | "get_slice"
        | "multiget"
        | "multiget_slice"
        | "get_count"
        | "multiget_count"
        | "get_multi_slice"
        | "get_column"
        | "get_slice_by_names"
        | "get_columns_since"
        | "get_column_count"
        | "get_superColumn"
        | "get_slice_super"
        | "get_slice_super_by_names" => Some(RequestKind::Read),
        "get_key_range" | "get_range_slice" | "get_range_slices" | "get_paged_slice"
        | "get_indexed_slices" => Some(RequestKind::Range),
        "insert"
        | "remove"
        | "batch_insert"
        | "batch_mutate"
        | "atomic_batch_mutate"
        | "add"
        | "remove_counter"
        | "cas"
        | "insert_blocking"
        | "batch_insert_blocking"
        | "batch_insert_superColumn"
        | "batch_insert_superColumn_blocking"
        | "touch" => Some(RequestKind::Write),
        "truncate" => Some(RequestKind::Truncate),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thrift::failure::Thrown;
    use crate::thrift::methods::METHODS;

    #[test]
    fn calls_that_can_time_out_have_a_time_limit() {
        let can_time_out =
            |throws: &[(i16, Thrown)]| throws.iter().any(|(_, thrown)| *thrown == Thrown::TimedOut);
        let is_statement = |name: &str| name.starts_with("execute_");
        let without: Vec<&str> = METHODS
            .iter()
            .filter(|method| can_time_out(method.throws) && !is_statement(method.name))
            .map(|method| method.name)
            .filter(|name| request_kind(name).is_none())
            .collect();
        assert!(without.is_empty(), "{without:?}");
        for method in METHODS.iter().filter(|method| !method.needs_login) {
            assert_eq!(request_kind(method.name), None, "{}", method.name);
        }
    }
}
