//! Parses CREATE TABLE and ALTER TABLE.

use super::{Parser, last_named};
use crate::{Alter, ColumnDefinition, CreateTable, PrimaryKey, Properties, Result};
use base::compat::features::syntax;

impl Parser<'_> {
    /// Parses the rest of CREATE TABLE.
    pub(super) fn create_table(&mut self) -> Result<CreateTable> {
        let if_not_exists = self.if_not_exists()?;
        let mut made = CreateTable {
            table: self.table_name()?,
            if_not_exists,
            columns: Vec::new(),
            primary_keys: Vec::new(),
            is_compact: false,
            clustering_order: Vec::new(),
            properties: Properties::default(),
        };
        self.expect_symbol("(")?;
        self.definition_of_column(&mut made)?;
        while self.eat_symbol(",") {
            // The old parser allows extra commas, also before the parenthesis.
            if !self.is_symbol(0, ")") && !self.is_symbol(0, ",") {
                self.definition_of_column(&mut made)?;
            }
        }
        self.expect_symbol(")")?;
        if self.eat_word("WITH") {
            self.table_property(&mut made)?;
            while self.eat_word("AND") {
                self.table_property(&mut made)?;
            }
        }
        Ok(made)
    }

    fn definition_of_column(&mut self, made: &mut CreateTable) -> Result<()> {
        if self.eat_word("PRIMARY") {
            self.expect_word("KEY")?;
            made.primary_keys.push(self.primary_key()?);
            return Ok(());
        }
        let name = self.name()?;
        let cql_type = self.type_name()?;
        let is_static = self.is_static();
        let is_primary_key = self.eat_word("PRIMARY");
        if is_primary_key {
            self.expect_word("KEY")?;
        }
        made.columns.push(ColumnDefinition { name, cql_type, is_static, is_primary_key });
        Ok(())
    }

    fn is_static(&mut self) -> bool {
        let is_static = self.eat_word("STATIC");
        if is_static {
            self.needs(syntax::STATIC);
        }
        is_static
    }

    fn primary_key(&mut self) -> Result<PrimaryKey> {
        self.expect_symbol("(")?;
        let partition_key =
            if self.is_symbol(0, "(") { self.list_in_parentheses(Self::name)? } else { vec![self.name()?] };
        let clustering = if self.eat_symbol(",") { self.list(Self::clustering_name)? } else { Vec::new() };
        self.expect_symbol(")")?;
        Ok(PrimaryKey { partition_key, clustering })
    }

    /// Parses a column name of CLUSTERING ORDER BY. The old servers continue after an unexpected parenthesis, so they
    /// report the last one.
    fn clustering_name(&mut self) -> Result<String> {
        if self.is_symbol(0, "(") && self.is_name(1) {
            let fault = self.no_viable(0);
            self.put_off(fault);
            self.advance();
        }
        self.name()
    }

    fn table_property(&mut self, made: &mut CreateTable) -> Result<()> {
        if self.eat_words(&["COMPACT", "STORAGE"]) {
            made.is_compact = true;
        } else if self.eat_words(&["CLUSTERING", "ORDER"]) {
            self.expect_word("BY")?;
            let order = self.list_in_parentheses(Self::clustering)?;
            made.clustering_order = last_named(made.clustering_order.drain(..).chain(order));
        } else {
            self.property(&mut made.properties)?;
        }
        Ok(())
    }

    fn clustering(&mut self) -> Result<(String, bool)> {
        let column = self.name()?;
        if self.eat_word("ASC") {
            return Ok((column, false));
        }
        if self.eat_word("DESC") {
            return Ok((column, true));
        }
        Err(self.no_viable(0))
    }

    /// Parses one step, or several in parentheses.
    fn steps(&mut self, one: impl FnMut(&mut Self) -> Result<Alter>) -> Result<Alter> {
        let mut one = one;
        if self.is_symbol(0, "(") {
            self.needs(syntax::COLUMN_LIST);
            return Ok(Alter::Several(self.list_in_parentheses(one)?));
        }
        let first = one(self)?;
        if !self.eat_symbol(",") {
            return Ok(first);
        }
        self.needs(syntax::COLUMN_LIST);
        let mut steps = vec![first];
        steps.extend(self.list(one)?);
        Ok(Alter::Several(steps))
    }

    /// Parses the rest of ALTER TABLE, after the name of the table.
    pub(super) fn alter_table(&mut self) -> Result<Alter> {
        if self.eat_word("ALTER") {
            let column = self.name()?;
            self.expect_word("TYPE")?;
            return Ok(Alter::Type { column, cql_type: self.type_name()? });
        }
        if self.eat_word("ADD") {
            return self.steps(|parser| {
                let column = parser.name()?;
                let cql_type = parser.type_name()?;
                Ok(Alter::Add { column, cql_type, is_static: parser.is_static() })
            });
        }
        if self.eat_word("DROP") {
            self.needs(syntax::DROP_COLUMN);
            return self.steps(|parser| Ok(Alter::Drop { column: parser.name()? }));
        }
        if self.eat_word("RENAME") {
            return Ok(Alter::Rename(self.renamings()?));
        }
        if self.eat_word("WITH") {
            return Ok(Alter::With(self.properties()?));
        }
        Err(self.no_viable(0))
    }

    /// Parses `a TO b AND c TO d`.
    pub(super) fn renamings(&mut self) -> Result<Vec<(String, String)>> {
        let mut renamings = Vec::new();
        loop {
            let from = self.name()?;
            self.expect_word("TO")?;
            renamings.push((from, self.name()?));
            if !self.eat_word("AND") {
                return Ok(renamings);
            }
        }
    }
}
