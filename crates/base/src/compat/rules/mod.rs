//! The rules of releases, by topic. A rule is one row: its meaning, its name and its releases.
//!
//! A row `name: bool = since(V1_1);` holds in 1.1 and later; [`Eras`](super::span::Eras) defines a rule whose values
//! are not boolean. To change a rule of a release, change its row: no other code compares releases.

mod cells;
mod cql;
mod logins;
mod reads;
mod schema;
mod where_clause;
mod wire;
mod writes;

pub use cells::{CellRules, SuperCount, TimestampOrder, ValueTie};
pub use cql::CqlRules;
pub use logins::LoginRules;
pub use reads::{CountBy, ReadRules};
pub use schema::{ColumnOrder, KeyAlias, OwnKeyspace, SchemaRules};
pub use where_clause::WhereRules;
pub use wire::WireRules;
pub use writes::WriteRules;

/// Defines a struct with a field for each rule, and `of`, which returns the rules of a line of releases.
macro_rules! rules {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $( $(#[$meaning:meta])* $rule:ident: $kind:ty = $releases:expr; )*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            $( $(#[$meaning])* pub $rule: $kind, )*
        }

        impl $name {
            /// Returns the rules of a line of releases.
            pub const fn of(line: $crate::compat::Line) -> $name {
                $name { $( $rule: $releases.at(line), )* }
            }
        }
    };
}
use rules;
