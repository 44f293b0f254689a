//! Parses CREATE, ALTER and DROP of everything except users and roles.

use super::Parser;
use crate::token::TokenKind;
use crate::{AlterType, CreateIndex, IndexTarget, Properties, Result, Statement, SyntaxError};
use base::compat::features::restrictions::INDEXES_ON_ENTRIES;
use base::compat::features::syntax;

impl Parser<'_> {
    pub(super) fn definition(&mut self) -> Result<Statement> {
        let start = self.position();
        if self.eat_word("CREATE") {
            return self.create(start);
        }
        if self.eat_word("ALTER") {
            return self.alter(start);
        }
        if self.eat_word("DROP") {
            return self.drop_statement(start);
        }
        Err(self.no_viable(0))
    }

    fn create(&mut self, start: usize) -> Result<Statement> {
        if self.eat_word("KEYSPACE") {
            let if_not_exists = self.if_not_exists()?;
            let name = self.name()?;
            self.expect_word("WITH")?;
            return Ok(Statement::CreateKeyspace { name, if_not_exists, properties: self.properties()? });
        }
        if self.eat_word("TABLE") {
            return Ok(Statement::CreateTable(self.create_table()?));
        }
        if self.eat_words(&["CUSTOM", "INDEX"]) {
            return Ok(Statement::CreateIndex(self.create_index(true)?));
        }
        if self.eat_word("INDEX") {
            return Ok(Statement::CreateIndex(self.create_index(false)?));
        }
        if self.eat_word("TYPE") {
            return self.create_type();
        }
        if let Some(refused) = self.view("CREATE MATERIALIZED VIEW", start) {
            return Ok(refused);
        }
        let replaces = self.eat_words(&["OR", "REPLACE"]);
        if self.is_word(0, "FUNCTION") {
            return Ok(self.refused("CREATE FUNCTION"));
        }
        if self.is_word(0, "AGGREGATE") {
            return Ok(self.refused("CREATE AGGREGATE"));
        }
        if self.is_word(0, "TRIGGER") && !replaces {
            return Ok(self.refused("CREATE TRIGGER"));
        }
        Err(self.no_viable_from(start, 0))
    }

    /// Skips the rest of a statement about a materialized view, if it is one.
    fn view(&mut self, what: &'static str, start: usize) -> Option<Statement> {
        if !self.is_word(0, "MATERIALIZED") || !self.is_word(1, "VIEW") {
            return None;
        }
        if let SyntaxError::Syntax { message, place } = self.no_viable_from(start, 0) {
            self.before_views = Some((message, place));
        }
        Some(self.refused(what))
    }

    /// Skips the rest of a statement that this server refuses.
    fn refused(&mut self, what: &'static str) -> Statement {
        while self.kind(0) != TokenKind::End && !self.is_symbol(0, ";") {
            self.advance();
        }
        Statement::Refused(what)
    }

    fn create_index(&mut self, is_custom: bool) -> Result<CreateIndex> {
        let if_not_exists = self.if_not_exists()?;
        let name = if self.is_word(0, "ON") { None } else { Some(self.name()?) };
        self.expect_word("ON")?;
        let table = self.table_name()?;
        self.expect_symbol("(")?;
        let (target, column) = self.index_target()?;
        self.expect_symbol(")")?;
        let class = if self.eat_word("USING") { Some(self.expect_string()?) } else { None };
        let properties = if self.eat_word("WITH") { self.properties()? } else { Properties::default() };
        Ok(CreateIndex { name, if_not_exists, table, column, target, is_custom, class, properties })
    }

    fn index_target(&mut self) -> Result<(IndexTarget, String)> {
        let targets = [
            (syntax::INDEX_OF_KEYS, IndexTarget::Keys),
            (syntax::INDEX_OF_VALUES, IndexTarget::Values),
            (syntax::INDEX_OF_ENTRIES, IndexTarget::Entries),
            (syntax::INDEX_OF_WHOLE, IndexTarget::Full),
        ];
        for (word, target) in targets {
            if self.is_word(0, word.name) && self.is_symbol(1, "(") {
                if target == IndexTarget::Entries {
                    self.came_with(INDEXES_ON_ENTRIES, self.no_viable(0));
                }
                self.advance();
                self.expect_symbol("(")?;
                let column = self.name()?;
                self.expect_symbol(")")?;
                self.needs(word);
                return Ok((target, column));
            }
        }
        Ok((IndexTarget::Values, self.name()?))
    }

    fn create_type(&mut self) -> Result<Statement> {
        self.needs(syntax::TYPE);
        let if_not_exists = self.if_not_exists()?;
        let name = self.table_name()?;
        self.expect_symbol("(")?;
        let mut fields = vec![(self.name()?, self.type_name()?)];
        while self.eat_symbol(",") {
            // The old parser allows extra commas, also before the parenthesis.
            if !self.is_symbol(0, ")") && !self.is_symbol(0, ",") {
                fields.push((self.name()?, self.type_name()?));
            }
        }
        self.expect_symbol(")")?;
        Ok(Statement::CreateType { name, if_not_exists, fields })
    }

    fn alter(&mut self, start: usize) -> Result<Statement> {
        if self.eat_word("KEYSPACE") {
            let name = self.name()?;
            self.expect_word("WITH")?;
            return Ok(Statement::AlterKeyspace { name, properties: self.properties()? });
        }
        if self.eat_word("TABLE") {
            let table = self.table_name()?;
            return Ok(Statement::AlterTable { table, alter: self.alter_table()? });
        }
        if self.eat_word("TYPE") {
            let name = self.table_name()?;
            return Ok(Statement::AlterType { name, alter: self.alter_type()? });
        }
        if let Some(refused) = self.view("ALTER MATERIALIZED VIEW", start) {
            return Ok(refused);
        }
        Err(self.no_viable_from(start, 0))
    }

    fn alter_type(&mut self) -> Result<AlterType> {
        self.needs(syntax::TYPE);
        if self.eat_word("ALTER") {
            let field = self.name()?;
            self.expect_word("TYPE")?;
            return Ok(AlterType::Alter { field, cql_type: self.type_name()? });
        }
        if self.eat_word("ADD") {
            let field = self.name()?;
            return Ok(AlterType::Add { field, cql_type: self.type_name()? });
        }
        if self.eat_word("RENAME") {
            return Ok(AlterType::Rename(self.renamings()?));
        }
        Err(self.no_viable(0))
    }

    fn drop_statement(&mut self, start: usize) -> Result<Statement> {
        if self.eat_word("KEYSPACE") {
            let if_exists = self.if_exists()?;
            return Ok(Statement::DropKeyspace { if_exists, name: self.name()? });
        }
        if self.eat_word("TABLE") {
            let if_exists = self.if_exists()?;
            return Ok(Statement::DropTable { if_exists, table: self.table_name()? });
        }
        if self.eat_word("INDEX") {
            let if_exists = self.if_exists()?;
            return Ok(Statement::DropIndex { if_exists, name: self.table_name()? });
        }
        if self.eat_word("TYPE") {
            self.needs(syntax::TYPE);
            let if_exists = self.if_exists()?;
            return Ok(Statement::DropType { if_exists, name: self.table_name()? });
        }
        if let Some(refused) = self.view("DROP MATERIALIZED VIEW", start) {
            return Ok(refused);
        }
        let refused =
            [("TRIGGER", "DROP TRIGGER"), ("FUNCTION", "DROP FUNCTION"), ("AGGREGATE", "DROP AGGREGATE")];
        for (word, what) in refused {
            if self.is_word(0, word) {
                return Ok(self.refused(what));
            }
        }
        Err(self.no_viable_from(start, 0))
    }
}
