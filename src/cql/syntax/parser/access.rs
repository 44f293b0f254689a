//! Users, roles and permissions.

use super::Parser;
use crate::cql::CqlError;
use crate::cql::syntax::token::TokenKind;
use crate::cql::syntax::{AccessStatement, Resource};

const PERMISSIONS: [&str; 8] =
    ["CREATE", "ALTER", "DROP", "SELECT", "MODIFY", "AUTHORIZE", "DESCRIBE", "EXECUTE"];

impl Parser<'_> {
    /// One of these statements, if one stands here.
    pub(super) fn access(&mut self) -> Result<Option<AccessStatement>, CqlError> {
        if let Some(found) = self.role() {
            return Ok(Some(found));
        }
        let found = if self.eat_words(&["CREATE", "USER"]) {
            self.create_user()?
        } else if self.eat_words(&["ALTER", "USER"]) {
            self.alter_user()?
        } else if self.eat_words(&["DROP", "USER"]) {
            let if_exists = self.if_exists()?;
            AccessStatement::DropUser { if_exists, name: self.user_name()? }
        } else if self.eat_words(&["LIST", "USERS"]) {
            AccessStatement::ListUsers
        } else if self.eat_word("LIST") {
            self.list_permissions()?
        } else if self.eat_word("GRANT") {
            let (permission, resource) = self.permission_on()?;
            self.expect_word("TO")?;
            AccessStatement::Grant { permission, resource, to: self.user_name()? }
        } else if self.eat_word("REVOKE") {
            let (permission, resource) = self.permission_on()?;
            self.expect_word("FROM")?;
            AccessStatement::Revoke { permission, resource, from: self.user_name()? }
        } else {
            return Ok(None);
        };
        Ok(Some(found))
    }

    /// Statements about roles, which are not looked at.
    fn role(&mut self) -> Option<AccessStatement> {
        let names_role = self.is_name(1) || self.kind(1) == TokenKind::String;
        let is_of_role = |parser: &Self, word: &str| {
            parser.is_word(0, word) && names_role && !parser.is_word(1, "ALL") && !parser.is_permission(1)
        };
        let what = if self.are_words(&["CREATE", "ROLE"]) {
            "CREATE ROLE"
        } else if self.are_words(&["ALTER", "ROLE"]) {
            "ALTER ROLE"
        } else if self.are_words(&["DROP", "ROLE"]) {
            "DROP ROLE"
        } else if self.are_words(&["LIST", "ROLES"]) {
            "LIST ROLES"
        } else if is_of_role(self, "GRANT") && self.is_word(2, "TO") {
            "GRANT"
        } else if is_of_role(self, "REVOKE") && self.is_word(2, "FROM") {
            "REVOKE"
        } else {
            return None;
        };
        while self.kind(0) != TokenKind::End && !self.is_symbol(0, ";") {
            self.advance();
        }
        Some(AccessStatement::Role(what))
    }

    /// A user's name keeps its spelling.
    fn user_name(&mut self) -> Result<String, CqlError> {
        if self.is_name(0) || self.kind(0) == TokenKind::String {
            return Ok(self.take_value());
        }
        Err(self.no_viable(0))
    }

    fn create_user(&mut self) -> Result<AccessStatement, CqlError> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.user_name()?;
        let password = self.password()?;
        let is_superuser = self.superuser().unwrap_or(false);
        Ok(AccessStatement::CreateUser { name, if_not_exists, password, is_superuser })
    }

    fn alter_user(&mut self) -> Result<AccessStatement, CqlError> {
        let name = self.user_name()?;
        let password = self.password()?;
        let is_superuser = self.superuser();
        Ok(AccessStatement::AlterUser { name, password, is_superuser })
    }

    fn password(&mut self) -> Result<Option<String>, CqlError> {
        if !self.eat_word("WITH") {
            return Ok(None);
        }
        self.expect_word("PASSWORD")?;
        self.expect_string().map(Some)
    }

    fn superuser(&mut self) -> Option<bool> {
        if self.eat_word("SUPERUSER") {
            return Some(true);
        }
        self.eat_word("NOSUPERUSER").then_some(false)
    }

    fn is_permission(&self, ahead: usize) -> bool {
        PERMISSIONS.iter().any(|permission| self.is_word(ahead, permission))
    }

    /// A permission in capitals, or `ALL`.
    fn permission(&mut self) -> Result<String, CqlError> {
        if self.eat_word("ALL") {
            self.eat_word("PERMISSIONS");
            return Ok("ALL".to_owned());
        }
        if !self.is_permission(0) {
            return Err(self.no_viable(0));
        }
        let permission = self.take_value().to_uppercase();
        self.eat_word("PERMISSION");
        Ok(permission)
    }

    fn permission_on(&mut self) -> Result<(String, Resource), CqlError> {
        let permission = self.permission()?;
        self.expect_word("ON")?;
        Ok((permission, self.resource()?))
    }

    fn resource(&mut self) -> Result<Resource, CqlError> {
        if self.eat_words(&["ALL", "KEYSPACES"]) {
            return Ok(Resource::AllKeyspaces);
        }
        if self.eat_word("KEYSPACE") {
            return Ok(Resource::Keyspace(self.name()?));
        }
        self.eat_word("TABLE");
        Ok(Resource::Table(self.table_name()?))
    }

    fn list_permissions(&mut self) -> Result<AccessStatement, CqlError> {
        let permission = self.permission()?;
        let resource = if self.eat_word("ON") { Some(self.resource()?) } else { None };
        let of = if self.eat_word("OF") { Some(self.user_name()?) } else { None };
        let is_recursive = !self.eat_word("NORECURSIVE");
        Ok(AccessStatement::ListPermissions { permission, resource, of, is_recursive })
    }
}
