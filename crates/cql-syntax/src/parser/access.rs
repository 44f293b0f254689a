//! Parses statements about users, roles and permissions.

use super::Parser;
use crate::token::TokenKind;
use crate::{AccessStatement, Resource, Result, RoleOptions};
use base::compat::features::syntax;

const PERMISSIONS: [&str; 8] =
    ["CREATE", "ALTER", "DROP", "SELECT", "MODIFY", "AUTHORIZE", "DESCRIBE", "EXECUTE"];

impl Parser<'_> {
    /// Parses such a statement, or returns `None` if the text begins another one.
    pub(super) fn access(&mut self) -> Result<Option<AccessStatement>> {
        if let Some(found) = self.role()? {
            self.needs(syntax::ROLES);
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

    /// Parses a statement about roles, or returns `None`.
    fn role(&mut self) -> Result<Option<AccessStatement>> {
        let found = if self.eat_words(&["CREATE", "ROLE"]) {
            let if_not_exists = self.if_not_exists()?;
            let name = self.user_name()?;
            AccessStatement::CreateRole { name, if_not_exists, options: self.role_options()? }
        } else if self.eat_words(&["ALTER", "ROLE"]) {
            AccessStatement::AlterRole { name: self.user_name()?, options: self.role_options()? }
        } else if self.eat_words(&["DROP", "ROLE"]) {
            let if_exists = self.if_exists()?;
            AccessStatement::DropRole { if_exists, name: self.user_name()? }
        } else if self.eat_words(&["LIST", "ROLES"]) {
            let of = if self.eat_word("OF") { Some(self.user_name()?) } else { None };
            AccessStatement::ListRoles { of, is_recursive: !self.eat_word("NORECURSIVE") }
        } else if self.gives_role("GRANT", "TO") {
            self.advance();
            let role = self.user_name()?;
            self.expect_word("TO")?;
            AccessStatement::GrantRole { role, to: self.user_name()? }
        } else if self.gives_role("REVOKE", "FROM") {
            self.advance();
            let role = self.user_name()?;
            self.expect_word("FROM")?;
            AccessStatement::RevokeRole { role, from: self.user_name()? }
        } else {
            return Ok(None);
        };
        Ok(Some(found))
    }

    /// Checks whether a role is granted or revoked, instead of a permission.
    fn gives_role(&self, verb: &str, preposition: &str) -> bool {
        let names_role = self.is_name(1) || self.kind(1) == TokenKind::String;
        self.is_word(0, verb) && names_role && self.is_word(2, preposition)
    }

    fn role_options(&mut self) -> Result<RoleOptions> {
        let mut options = RoleOptions::default();
        if !self.eat_word("WITH") {
            return Ok(options);
        }
        loop {
            let name = if self.is_name(0) { self.take_value().to_uppercase() } else { String::new() };
            let is_second = match &*name {
                "PASSWORD" => {
                    self.expect_symbol("=")?;
                    options.password.replace(self.expect_string()?).is_some()
                }
                "LOGIN" => options.login.replace(self.role_flag()?).is_some(),
                "SUPERUSER" => options.superuser.replace(self.role_flag()?).is_some(),
                "OPTIONS" => {
                    self.expect_symbol("=")?;
                    self.term()?;
                    std::mem::replace(&mut options.has_custom, true)
                }
                _ => return Err(self.no_viable(0)),
            };
            if is_second {
                self.complain(format!("Multiple definition for property '{name}'"));
            }
            if !self.eat_word("AND") {
                return Ok(options);
            }
        }
    }

    fn role_flag(&mut self) -> Result<bool> {
        self.expect_symbol("=")?;
        Ok(self.expect_kind(TokenKind::Boolean, "BOOLEAN")?.eq_ignore_ascii_case("true"))
    }

    /// Parses a user name, which keeps its case.
    fn user_name(&mut self) -> Result<String> {
        if self.is_name(0) || self.kind(0) == TokenKind::String {
            return Ok(self.take_value());
        }
        Err(self.no_viable(0))
    }

    fn create_user(&mut self) -> Result<AccessStatement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.user_name()?;
        let password = self.password()?;
        let is_superuser = self.superuser().unwrap_or(false);
        Ok(AccessStatement::CreateUser { name, if_not_exists, password, is_superuser })
    }

    fn alter_user(&mut self) -> Result<AccessStatement> {
        let name = self.user_name()?;
        let password = self.password()?;
        let is_superuser = self.superuser();
        Ok(AccessStatement::AlterUser { name, password, is_superuser })
    }

    fn password(&mut self) -> Result<Option<String>> {
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

    /// Parses a permission: its name in capitals, or `ALL`.
    fn permission(&mut self) -> Result<String> {
        if self.eat_word("ALL") {
            self.eat_word("PERMISSIONS");
            return Ok("ALL".to_owned());
        }
        if !PERMISSIONS.iter().any(|permission| self.is_word(0, permission)) {
            return Err(self.no_viable(0));
        }
        let permission = self.take_value().to_uppercase();
        self.eat_word("PERMISSION");
        Ok(permission)
    }

    fn permission_on(&mut self) -> Result<(String, Resource)> {
        let permission = self.permission()?;
        self.expect_word("ON")?;
        Ok((permission, self.resource()?))
    }

    fn resource(&mut self) -> Result<Resource> {
        if self.eat_words(&["ALL", "KEYSPACES"]) {
            return Ok(Resource::AllKeyspaces);
        }
        if self.eat_word("KEYSPACE") {
            return Ok(Resource::Keyspace(self.name()?));
        }
        if self.eat_words(&["ALL", "ROLES"]) {
            return Ok(Resource::AllRoles);
        }
        // `role` may also be the name of a table.
        if self.is_word(0, "ROLE")
            && (self.is_name(1) || self.kind(1) == TokenKind::String)
            && !self.is_word(1, "TO")
        {
            self.advance();
            return Ok(Resource::Role(self.user_name()?));
        }
        self.eat_word("TABLE");
        Ok(Resource::Table(self.table_name()?))
    }

    fn list_permissions(&mut self) -> Result<AccessStatement> {
        let permission = self.permission()?;
        let resource = if self.eat_word("ON") { Some(self.resource()?) } else { None };
        let of = if self.eat_word("OF") { Some(self.user_name()?) } else { None };
        let is_recursive = !self.eat_word("NORECURSIVE");
        Ok(AccessStatement::ListPermissions { permission, resource, of, is_recursive })
    }
}
