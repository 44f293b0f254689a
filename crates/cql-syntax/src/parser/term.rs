//! Parses values.

use super::Parser;
use crate::limits::FUNCTION_CALL_BYTES;
use crate::token::TokenKind;
use crate::{ConstantKind, FunctionCall, Result, SyntaxError, Term};
use base::compat::features::syntax;

impl Parser<'_> {
    pub(super) fn term(&mut self) -> Result<Term> {
        self.nested(Self::any_term)
    }

    fn any_term(&mut self) -> Result<Term> {
        if let Some(constant) = self.constant() {
            return Ok(constant);
        }
        if let Some(marker) = self.marker_term()? {
            return Ok(marker);
        }
        if self.eat_word("NULL") {
            return Ok(Term::Null);
        }
        match self.raw(0) {
            "[" if self.kind(0) == TokenKind::Symbol => self.list_literal(),
            "{" if self.kind(0) == TokenKind::Symbol => self.braces(),
            "(" if self.kind(0) == TokenKind::Symbol && self.is_cast() => self.cast(),
            "(" if self.kind(0) == TokenKind::Symbol => {
                self.needs(syntax::TUPLE);
                Ok(Term::Tuple(self.list_in_parentheses(Self::term)?))
            }
            _ => self.function_call(),
        }
    }

    /// Parses a constant, or returns `None`.
    pub(super) fn constant(&mut self) -> Option<Term> {
        let kind = match self.kind(0) {
            TokenKind::String => ConstantKind::String,
            TokenKind::Integer => ConstantKind::Integer,
            TokenKind::Float => ConstantKind::Float,
            TokenKind::Uuid => ConstantKind::Uuid,
            TokenKind::Boolean => ConstantKind::Boolean,
            TokenKind::Blob => ConstantKind::Hex,
            TokenKind::Duration => ConstantKind::Duration,
            TokenKind::Word if self.is_iso_duration() => ConstantKind::Duration,
            _ => return self.not_finite(),
        };
        if kind == ConstantKind::Duration {
            self.needs(syntax::DURATION);
        }
        Some(Term::Constant { kind, text: self.take_value().into() })
    }

    /// Checks for an ISO duration such as `P1Y` or `PT1H`, which is not followed by a function's parenthesis.
    fn is_iso_duration(&self) -> bool {
        let rest = self.raw(0).strip_prefix('P').map(|rest| rest.strip_prefix('T').unwrap_or(rest));
        let has_digit = rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        has_digit && !self.is_symbol(1, "(") && !self.is_symbol(1, ".")
    }

    /// Parses `NaN`, `Infinity` or `-Infinity`.
    fn not_finite(&mut self) -> Option<Term> {
        let is_negative = self.is_symbol(0, "-");
        let ahead = usize::from(is_negative);
        if !self.is_word(ahead, "NAN") && !self.is_word(ahead, "INFINITY") {
            return None;
        }
        if is_negative {
            self.advance();
        }
        self.needs(syntax::NOT_FINITE);
        let sign = if is_negative { "-" } else { "" };
        Some(Term::Constant {
            kind: ConstantKind::Float,
            text: format!("{sign}{}", self.take_value()).into(),
        })
    }

    /// Parses an integer or a marker, for LIMIT, TIMESTAMP and TTL.
    pub(super) fn integer(&mut self) -> Result<Term> {
        if let Some(marker) = self.marker_term()? {
            self.needs(syntax::MARKER_ANYWHERE);
            return Ok(marker);
        }
        match self.kind(0) {
            TokenKind::Integer => {
                Ok(Term::Constant { kind: ConstantKind::Integer, text: self.take_value().into() })
            }
            _ => Err(self.no_viable(0)),
        }
    }

    fn list_literal(&mut self) -> Result<Term> {
        self.expect_symbol("[")?;
        let elements = if self.is_symbol(0, "]") { Vec::new() } else { self.list(Self::term)? };
        self.expect_symbol("]")?;
        Ok(Term::List(elements))
    }

    /// Parses a set, a map or a value of a user-defined type.
    fn braces(&mut self) -> Result<Term> {
        self.expect_symbol("{")?;
        if self.eat_symbol("}") {
            return Ok(Term::Set(Vec::new()));
        }
        let literal = if self.is_name(0) && self.is_symbol(1, ":") {
            self.needs(syntax::USER_VALUE);
            Term::User(self.list(|parser| {
                let field = parser.name()?;
                parser.expect_symbol(":")?;
                Ok((field, parser.term()?))
            })?)
        } else {
            self.set_or_map()?
        };
        self.expect_symbol("}")?;
        Ok(literal)
    }

    fn set_or_map(&mut self) -> Result<Term> {
        let first = self.term()?;
        if !self.eat_symbol(":") {
            let mut elements = vec![first];
            if self.eat_symbol(",") {
                elements.extend(self.list(Self::term)?);
            }
            return Ok(Term::Set(elements));
        }
        let mut entries = vec![(first, self.term()?)];
        if self.eat_symbol(",") {
            entries.extend(self.list(|parser| {
                let key = parser.term()?;
                parser.expect_symbol(":")?;
                Ok((key, parser.term()?))
            })?);
        }
        Ok(Term::Map(entries))
    }

    /// Checks whether a parenthesis contains a type instead of the elements of a tuple: a name alone is not a term.
    fn is_cast(&self) -> bool {
        self.is_name(1) && !self.is_symbol(2, "(") && !self.is_function_of_keyspace(1)
            || self.is_word(1, "SET") && self.is_symbol(2, "<")
    }

    fn cast(&mut self) -> Result<Term> {
        self.expect_symbol("(")?;
        let cql_type = self.type_name()?;
        self.expect_symbol(")")?;
        Ok(Term::Cast { cql_type: Box::new(cql_type), term: Box::new(self.term()?) })
    }

    fn is_function_of_keyspace(&self, ahead: usize) -> bool {
        self.is_name(ahead)
            && self.is_symbol(ahead + 1, ".")
            && self.is_name(ahead + 2)
            && self.is_symbol(ahead + 3, "(")
    }

    fn function_call(&mut self) -> Result<Term> {
        let Some((keyspace, name)) = self.function_name()? else {
            // A quoted name is not a function name, so the old parser stops at it and not after it.
            let is_word = self.is_name(0) && self.kind(0) == TokenKind::Word;
            return Err(self.no_viable_from(self.position(), usize::from(is_word)));
        };
        if self.language.lacks_function(&name) {
            self.put_off(SyntaxError::invalid(format!("Unknown CQL3 function {name} called")));
        }
        self.charge(FUNCTION_CALL_BYTES)?;
        self.expect_symbol("(")?;
        let arguments = if self.is_symbol(0, ")") { Vec::new() } else { self.list(Self::term)? };
        self.expect_symbol(")")?;
        Ok(Term::Function(Box::new(FunctionCall { keyspace, name, arguments })))
    }

    /// Parses the name of a function and its keyspace, or returns `None` if no parenthesis follows. The name keeps its
    /// case.
    pub(super) fn function_name(&mut self) -> Result<Option<(Option<String>, String)>> {
        if self.is_function_of_keyspace(0) {
            let keyspace = self.name()?;
            self.needs(syntax::KEYSPACE_FUNCTION);
            self.advance();
            return Ok(Some((Some(keyspace), self.take_value())));
        }
        let is_named = self.kind(0) == TokenKind::Word && (self.is_name(0) || self.is_word(0, "TOKEN"));
        if !is_named || !self.is_symbol(1, "(") {
            return Ok(None);
        }
        if self.eat_word("TOKEN") {
            return Ok(Some((None, "token".to_owned())));
        }
        let token = self.peek(0);
        self.functions.push(token.start..token.end);
        Ok(Some((None, self.take_value())))
    }
}
