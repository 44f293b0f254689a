//! A recursive descent parser, with one file for each group of statements.

mod access;
mod cursor;
mod define;
mod describe;
mod modify;
mod properties;
mod relation;
mod select;
mod table;
mod term;
mod type_name;

pub use cursor::Parser;

use std::collections::HashMap;

use super::{Parsed, Statement, TableName};
use crate::Result;
use base::compat::features::releases::NEWEST;
use base::compat::features::{Language, syntax};
use base::util::Release;

/// Parses a statement in the newest language, with the messages of 2.1.
pub fn parse(text: &str) -> Result<Parsed> {
    parse_as(text, NEWEST, Language::default())
}

/// Parses a statement in a language, with the messages of a release.
pub fn parse_as(text: &str, release: Release, language: Language) -> Result<Parsed> {
    let mut parser = Parser::new(text, release)?;
    parser.language = language;
    parser.check_comment()?;
    parser.check_dollars()?;
    let statement = parser.statement()?;
    parser.end()?;
    let Parser { markers, unqualified, functions, before_views, before_feature, .. } = parser;
    Ok(Parsed { statement, markers, unqualified, functions, before_views, before_feature })
}

/// Returns columns and whether each is descending. A repeated column keeps its first position and its last direction.
fn last_named(directions: impl IntoIterator<Item = (String, bool)>) -> Vec<(String, bool)> {
    let mut named: Vec<(String, bool)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (column, is_backwards) in directions {
        match places.get(&column) {
            Some(place) => named[*place].1 = is_backwards,
            None => {
                places.insert(column.clone(), named.len());
                named.push((column, is_backwards));
            }
        }
    }
    named
}

impl Parser<'_> {
    fn statement(&mut self) -> Result<Statement> {
        if self.is_word(0, "SELECT") {
            return Ok(Statement::Select(self.select()?));
        }
        if let Some(modify) = self.modification()? {
            return Ok(Statement::Modify(modify));
        }
        if self.eat_word("BEGIN") {
            return Ok(Statement::Batch(self.batch()?));
        }
        if self.eat_word("USE") {
            if self.eat_symbol("?") {
                self.complain("Bind variables cannot be used for keyspace names".to_owned());
                return Ok(Statement::Use(String::new()));
            }
            return Ok(Statement::Use(self.name()?));
        }
        if self.eat_word("TRUNCATE") {
            if self.eat_word("TABLE") {
                self.needs(syntax::TRUNCATE_TABLE);
            }
            return Ok(Statement::Truncate(self.table_name()?));
        }
        if let Some(describe) = self.describe()? {
            self.needs(syntax::DESCRIBE);
            return Ok(describe);
        }
        if let Some(access) = self.access()? {
            return Ok(Statement::Access(access));
        }
        self.definition()
    }

    /// Parses `[keyspace.]name`; without a keyspace the name is in the session's keyspace.
    pub fn table_name(&mut self) -> Result<TableName> {
        let start = self.peek(0).start;
        let name = self.qualified_name()?;
        if name.keyspace.is_none() {
            self.unqualified.push(start);
        }
        Ok(name)
    }

    /// Parses `[keyspace.]name`.
    fn qualified_name(&mut self) -> Result<TableName> {
        let name = self.name()?;
        if self.eat_symbol(".") {
            return Ok(TableName { keyspace: Some(name), name: self.name()? });
        }
        Ok(TableName { keyspace: None, name })
    }

    fn if_not_exists(&mut self) -> Result<bool> {
        let is_there = self.eat_word("IF");
        if is_there {
            self.expect_words(&["NOT", "EXISTS"])?;
            self.needs(syntax::IF_NOT_EXISTS);
        }
        Ok(is_there)
    }

    fn if_exists(&mut self) -> Result<bool> {
        let is_there = self.eat_word("IF");
        if is_there {
            self.expect_word("EXISTS")?;
            self.needs(syntax::IF_EXISTS);
        }
        Ok(is_there)
    }
}

#[cfg(test)]
mod tests;
