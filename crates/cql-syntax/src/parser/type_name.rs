//! Parses types.

use super::Parser;
use crate::token::TokenKind;
use crate::{Result, TableName, TypeName};
use base::compat::features::syntax;

impl Parser<'_> {
    pub(super) fn type_name(&mut self) -> Result<TypeName> {
        self.nested(Self::any_type)
    }

    fn any_type(&mut self) -> Result<TypeName> {
        if self.kind(0) == TokenKind::String {
            return Ok(TypeName::Custom(self.take_value()));
        }
        if self.eat_word("SET") {
            return Ok(TypeName::Set(Box::new(self.parameter()?)));
        }
        let has_parameters = self.is_symbol(1, "<");
        if has_parameters && self.eat_word("LIST") {
            return Ok(TypeName::List(Box::new(self.parameter()?)));
        }
        if has_parameters && self.eat_word("FROZEN") {
            self.needs(syntax::FROZEN);
            return Ok(TypeName::Frozen(Box::new(self.parameter()?)));
        }
        if has_parameters && self.eat_word("MAP") {
            self.expect_symbol("<")?;
            let key = self.type_name()?;
            self.expect_symbol(",")?;
            let value = self.type_name()?;
            self.expect_symbol(">")?;
            return Ok(TypeName::Map(Box::new(key), Box::new(value)));
        }
        if has_parameters && self.eat_word("TUPLE") {
            self.needs(syntax::TUPLE_TYPE);
            self.expect_symbol("<")?;
            let elements = self.list(Self::type_name)?;
            self.expect_symbol(">")?;
            return Ok(TypeName::Tuple(elements));
        }
        let TableName { keyspace, name } = self.qualified_name()?;
        if keyspace.is_none() && self.language.lacks_type(&name) {
            self.needs(syntax::USER_TYPE);
            if self.language.keeps_free(&name) {
                self.complain(format!("Invalid (reserved) user type name {name}"));
            }
            return Ok(TypeName::Users(name));
        }
        Ok(TypeName::Named { keyspace, name })
    }

    fn parameter(&mut self) -> Result<TypeName> {
        self.expect_symbol("<")?;
        let parameter = self.type_name()?;
        self.expect_symbol(">")?;
        Ok(parameter)
    }
}
