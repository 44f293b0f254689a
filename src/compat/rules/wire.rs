//! Rules of Thrift messages: the fields of structs, and which of them may be absent.

use super::rules;
use crate::compat::span::{before, only, since};
use crate::util::Release::{V0_6, V0_7, V0_8, V1_0, V1_1};

rules! {
    /// The fields of a release's structs, and which of them may be absent.
    pub struct WireRules {
        /// If a struct within a call lacks a required field, the rest of the message is read as the next call (0.7),
        /// which then fails, whatever it is.
        loses_its_place: bool = only(V0_7);
        /// A consistency level that is required is a number like others, and refused when it is absent (to 0.5); 0.6
        /// makes an object of it, which is ONE from the start.
        level_is_a_number: bool = before(V0_6);
        /// A write without a level has the level ZERO (to 0.5), not ONE.
        absent_write_level_is_zero: bool = before(V0_6);
        /// remove does not require a level, so an invalid one is only reported after all other errors (0.6).
        removal_level_is_read_last: bool = since(V0_6);
        /// A Column may expire (0.7 and later).
        columns_expire: bool = since(V0_7);
        /// A Column requires its value, and a Column or Deletion its timestamp (to 0.7); later releases check them
        /// after the message is read.
        column_fields_are_required: bool = before(V0_8);
        /// Counters have structs of their own (0.8 and later). Earlier clients see a column of eight bytes.
        has_counter_structs: bool = since(V0_8);
        /// A KeyRange may have conditions (1.1 and later).
        ranges_have_conditions: bool = since(V1_1);
        /// A TokenRange has the addresses for clients (0.8 and later).
        ring_has_client_addresses: bool = since(V0_8);
        /// A TokenRange has its nodes with their data centres (1.0 and later; clients of 1.0.1 do not ask whether it
        /// does).
        ring_has_data_centres: bool = since(V1_0);
        /// A CqlResult has the types of its columns (1.0 and later).
        cql_result_has_types: bool = since(V1_0);
        /// A session may choose CQL 3 for the calls of CQL 2 (1.1, which has no others).
        cql3_by_calls_of_cql2: bool = only(V1_1);
    }
}
