//! Parses INSERT, UPDATE, DELETE and BATCH.

use std::collections::{HashMap, HashSet};

use super::Parser;
use crate::error::invalid;
use crate::limits::{BATCH_STATEMENT_BYTES, BATCH_STATEMENTS_MAX};
use crate::token::TokenKind;
use crate::{
    Assignment, Batch, BatchKind, Change, Conditions, ConstantKind, Deletion, Modify, Operation, Result, Term,
};
use base::compat::features::syntax;

/// The attributes of a USING clause.
#[derive(Default)]
struct Using {
    timestamp: Option<Box<Term>>,
    ttl: Option<Box<Term>>,
}

impl Parser<'_> {
    /// Parses an INSERT, UPDATE or DELETE, or returns `None`.
    pub(super) fn modification(&mut self) -> Result<Option<Modify>> {
        if self.eat_word("INSERT") {
            return self.insert().map(Some);
        }
        if self.eat_word("UPDATE") {
            return self.update().map(Some);
        }
        if self.eat_word("DELETE") {
            return self.delete().map(Some);
        }
        Ok(None)
    }

    pub(super) fn batch(&mut self) -> Result<Batch> {
        let kind = if self.eat_word("UNLOGGED") {
            BatchKind::Unlogged
        } else if self.eat_word("COUNTER") {
            BatchKind::Counter
        } else {
            BatchKind::Logged
        };
        self.expect_word("BATCH")?;
        let using = self.using(true)?;
        let mut statements = Vec::new();
        while let Some(statement) = self.modification()? {
            if statements.len() >= BATCH_STATEMENTS_MAX {
                return invalid(format!("A batch can have {BATCH_STATEMENTS_MAX} statements at most"));
            }
            self.charge(BATCH_STATEMENT_BYTES)?;
            statements.push(Box::new(statement));
            self.eat_symbol(";");
        }
        self.expect_words(&["APPLY", "BATCH"])?;
        Ok(Batch { kind, timestamp: using.timestamp, ttl: using.ttl, statements })
    }

    fn using(&mut self, may_expire: bool) -> Result<Using> {
        let mut using = Using::default();
        if !self.eat_word("USING") {
            return Ok(using);
        }
        loop {
            if may_expire && self.eat_word("TTL") {
                using.ttl = Some(Box::new(self.integer()?));
            } else if may_expire && !self.is_word(0, "TIMESTAMP") {
                return Err(self.no_viable(0));
            } else {
                self.expect_word("TIMESTAMP")?;
                using.timestamp = Some(Box::new(self.integer()?));
            }
            if !may_expire || !self.eat_word("AND") {
                return Ok(using);
            }
        }
    }

    fn insert(&mut self) -> Result<Modify> {
        self.expect_word("INTO")?;
        let table = self.table_name()?;
        let change = if self.eat_word("JSON") {
            self.needs(syntax::JSON);
            let json = match (self.marker_term()?, self.kind(0)) {
                (Some(marker), _) => marker,
                (None, TokenKind::String) => {
                    Term::Constant { kind: ConstantKind::String, text: self.take_value().into() }
                }
                (None, _) => return Err(self.no_viable(0)),
            };
            let has_default = self.eat_word("DEFAULT");
            let keeps_omitted = has_default && self.eat_word("UNSET");
            if has_default && !keeps_omitted {
                self.expect_word("NULL")?;
            }
            Change::InsertJson { json, keeps_omitted }
        } else {
            let columns = self.list_in_parentheses(Self::name)?;
            self.expect_word("VALUES")?;
            Change::Insert { columns, values: self.list_in_parentheses(Self::term)? }
        };
        let conditions = if self.if_not_exists()? { Conditions::IfNotExists } else { Conditions::None };
        let Using { timestamp, ttl } = self.using(true)?;
        Ok(Modify { table, timestamp, ttl, conditions, change })
    }

    fn update(&mut self) -> Result<Modify> {
        let table = self.table_name()?;
        let Using { timestamp, ttl } = self.using(true)?;
        self.expect_word("SET")?;
        let assignments = self.assignments()?;
        self.expect_word("WHERE")?;
        let relations = self.relations()?;
        let conditions = self.conditions()?;
        Ok(Modify { table, timestamp, ttl, conditions, change: Change::Update { assignments, relations } })
    }

    fn delete(&mut self) -> Result<Modify> {
        let deletions = if self.is_word(0, "FROM") { Vec::new() } else { self.list(Self::deletion)? };
        self.expect_word("FROM")?;
        let table = self.table_name()?;
        let Using { timestamp, ttl } = self.using(false)?;
        self.expect_word("WHERE")?;
        let relations = self.relations()?;
        let conditions = self.conditions()?;
        Ok(Modify { table, timestamp, ttl, conditions, change: Change::Delete { deletions, relations } })
    }

    fn deletion(&mut self) -> Result<Deletion> {
        let column = self.name()?;
        Ok(Deletion { column, part: self.part(|parser| parser.mismatched("K_FROM", false))? })
    }

    fn conditions(&mut self) -> Result<Conditions> {
        if !self.eat_word("IF") {
            return Ok(Conditions::None);
        }
        self.needs(syntax::IF);
        if self.is_word(0, "EXISTS") && !self.is_condition() {
            self.advance();
            return Ok(Conditions::IfExists);
        }
        Ok(Conditions::If(self.if_conditions()?))
    }

    /// Parses the assignments. A column may be changed twice, unless one of the changes sets it or both set one field.
    fn assignments(&mut self) -> Result<Vec<Assignment>> {
        let mut is_set_by_column = HashMap::new();
        let mut fields = HashSet::new();
        self.list(|parser| {
            let assignment = parser.assignment()?;
            let sets = match &assignment.operation {
                Operation::Set(_) => true,
                Operation::SetField { field, .. } => {
                    !fields.insert((assignment.column.clone(), field.clone()))
                }
                _ => false,
            };
            let earlier = is_set_by_column.insert(assignment.column.clone(), sets);
            if earlier.is_some_and(|was_set| was_set || sets) {
                parser.complain(format!("Multiple incompatible setting of column {}", assignment.column));
            }
            Ok(assignment)
        })
    }

    fn assignment(&mut self) -> Result<Assignment> {
        let column = self.name()?;
        if let Some(key) = self.element()? {
            self.expect_symbol("=")?;
            return Ok(Assignment { column, operation: Operation::SetElement { key, value: self.term()? } });
        }
        if let Some(field) = self.field(|parser| parser.mismatched("'='", false))? {
            self.expect_symbol("=")?;
            return Ok(Assignment { column, operation: Operation::SetField { field, value: self.term()? } });
        }
        // `c += 1`, of 4.0.
        if self.is_symbol(1, "=") && (self.is_symbol(0, "+") || self.is_symbol(0, "-")) {
            self.needs(syntax::ADD_ASSIGN);
            let adds = self.eat_symbol("+");
            if !adds {
                self.advance();
            }
            self.advance();
            let term = self.term()?;
            let operation = if adds { Operation::Add(term) } else { Operation::Subtract(term) };
            return Ok(Assignment { column, operation });
        }
        self.expect_symbol("=")?;
        let operation = if self.is_name(0)
            && (self.is_symbol(1, "+") || self.is_symbol(1, "-") || self.kind(1) == TokenKind::Integer)
        {
            self.step(&column)?
        } else {
            self.set_or_prepend(&column)?
        };
        Ok(Assignment { column, operation })
    }

    fn step(&mut self, column: &str) -> Result<Operation> {
        let of = self.name()?;
        let sign = if self.is_symbol(0, "-") || self.raw(0).starts_with('-') { '-' } else { '+' };
        let has_sign = self.kind(0) == TokenKind::Symbol;
        if of != column {
            // The old servers' message, including its missing space.
            let space = if has_sign { "" } else { " " };
            self.complain(format!("Only expressions of the form X = X {sign}{space}<value> are supported."));
        }
        if has_sign {
            self.advance();
        }
        let term = self.term()?;
        Ok(if has_sign && sign == '-' { Operation::Subtract(term) } else { Operation::Add(term) })
    }

    fn set_or_prepend(&mut self, column: &str) -> Result<Operation> {
        let term = self.term()?;
        if !self.eat_symbol("+") {
            return Ok(Operation::Set(term));
        }
        if self.name()? != column {
            self.complain("Only expressions of the form X = <value> + X are supported.".to_owned());
        }
        Ok(Operation::Prepend(term))
    }
}
