//! The prepared CQL 2 statements of a connection. Unlike statements of CQL 3, connections do not share them.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::limits::{CQL2_PREPARED_BYTES_MAX, CQL2_PREPARED_MAX};
use base::model::StatementId;
use cql::cql2::Prepared2;
use cql::{CqlError, cql2};

/// A prepared statement of a connection.
#[derive(Debug)]
struct OwnStatement {
    id: i32,
    text_bytes: usize,
    prepared: Arc<Prepared2>,
}

/// The prepared statements of a connection, oldest first. If there are too many, the oldest is removed.
#[derive(Debug, Default)]
pub struct OwnStatements {
    statements: VecDeque<OwnStatement>,
}

impl OwnStatements {
    /// Parses and stores a statement. Its id is the hash of the text alone.
    pub fn prepare(&mut self, text: &str) -> Result<(i32, Arc<Prepared2>), CqlError> {
        if text.len() > CQL2_PREPARED_BYTES_MAX {
            return Err(CqlError::invalid(format!(
                "Prepared statement of size {} bytes is larger than allowed maximum of {CQL2_PREPARED_BYTES_MAX} bytes.",
                text.len()
            )));
        }
        let id = id_of(text);
        let prepared = Arc::new(cql2::prepare(text)?);
        self.statements.retain(|own| own.id != id);
        self.statements.push_back(OwnStatement { id, text_bytes: text.len(), prepared: prepared.clone() });
        while self.statements.len() > CQL2_PREPARED_MAX || self.text_bytes() > CQL2_PREPARED_BYTES_MAX {
            self.statements.pop_front();
        }
        Ok((id, prepared))
    }

    fn text_bytes(&self) -> usize {
        self.statements.iter().map(|own| own.text_bytes).sum()
    }

    pub fn get(&self, id: i32) -> Result<Arc<Prepared2>, CqlError> {
        let own = self.statements.iter().find(|own| own.id == id);
        own.map(|own| own.prepared.clone()).ok_or_else(|| cql::unprepared(&StatementId::Hash(id)))
    }
}

fn id_of(text: &str) -> i32 {
    match StatementId::hash(None, text) {
        StatementId::Hash(id) => id,
        StatementId::Md5(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_statement_is_removed_first() {
        let mut own = OwnStatements::default();
        let text = |number: usize| format!("SELECT * FROM cf{number} WHERE KEY = ?");
        for number in 0..=CQL2_PREPARED_MAX {
            own.prepare(&text(number)).unwrap();
        }
        assert_eq!(own.statements.len(), CQL2_PREPARED_MAX);
        assert!(own.get(id_of(&text(0))).unwrap_err().to_string().starts_with("Prepared query with ID"));
        assert_eq!(own.get(id_of(&text(1))).unwrap().markers, 1);
    }

    #[test]
    fn a_text_that_is_too_long_is_refused() {
        let mut own = OwnStatements::default();
        let select = "SELECT * FROM cf WHERE KEY = ?";
        let longest = format!("{select}{}", " ".repeat(CQL2_PREPARED_BYTES_MAX - select.len()));
        let (id, _) = own.prepare(&longest).unwrap();
        let why = own.prepare(&format!("{longest} ")).unwrap_err().to_string();
        assert_eq!(
            why,
            "Prepared statement of size 65537 bytes is larger than allowed maximum of 65536 bytes."
        );
        own.prepare(select).unwrap();
        assert!(own.get(id).is_err(), "both texts together are too long");
    }
}
