//! Rules of Thrift messages: which fields structs have, and which may be missing.

use super::rules;
use crate::compat::span::{before, only, since};
use crate::util::Release::{V0_6, V0_7, V0_8, V1_0, V1_1, V2_2};

rules! {
    /// The fields that the structs of a release have, and those that may be missing.
    pub struct WireRules {
        /// If a struct in a call lacks a required field, the server reads the rest of the message as the next call,
        /// which then fails (0.7).
        loses_its_place: bool = only(V0_7);
        /// The required consistency level is a number in the old server's code, so a missing one is 0 and checked like
        /// any number (to 0.5). 0.6 uses an object that is initialized to ONE.
        level_is_a_number: bool = before(V0_6);
        /// A write without a consistency level has the level ZERO (to 0.5); later ONE.
        absent_write_level_is_zero: bool = before(V0_6);
        /// remove does not require a consistency level, so an invalid one is reported only after all other errors (0.6
        /// and later).
        removal_level_is_read_last: bool = since(V0_6);
        /// A Column may expire (0.7 and later).
        columns_expire: bool = since(V0_7);
        /// The value of a Column, and the timestamp of a Column or Deletion, are required fields (to 0.7). Later
        /// releases check them after the message is decoded.
        column_fields_are_required: bool = before(V0_8);
        /// Counters have their own structs (0.8 and later). Earlier clients see a column with a value of 8 bytes.
        has_counter_structs: bool = since(V0_8);
        /// A KeyRange may have index expressions (1.1 and later).
        ranges_have_conditions: bool = since(V1_1);
        /// A TokenRange has the RPC addresses of its nodes (0.8 and later).
        ring_has_client_addresses: bool = since(V0_8);
        /// A TokenRange has details of its nodes, with data centres (1.0 and later). Clients of 1.0.1 expect them
        /// without checking.
        ring_has_data_centres: bool = since(V1_0);
        /// describe_token_map shows tokens that are bytes as `Token(bytes[...])` (`BytesToken.toString`, to 1.2.4).
        token_map_wraps_bytes: bool = only(V1_1);
        /// A CqlResult has the types of its columns (1.0 and later).
        cql_result_has_types: bool = since(V1_0);
        /// set_cql_version may choose CQL 3 for the calls of CQL 2, because 1.1 has no other calls for CQL 3 (1.1).
        cql3_by_calls_of_cql2: bool = only(V1_1);
        /// The calls of CQL 2 run statements (to 2.1). Later they are refused, and set_cql_version has no effect
        /// (`CassandraServer` of 2.2).
        has_cql2: bool = before(V2_2);
    }
}
