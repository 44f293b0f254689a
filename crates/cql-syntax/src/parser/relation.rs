//! Parses the conditions of WHERE and IF.

use super::Parser;
use crate::token::TokenKind;
use crate::{Condition, InValues, Operator, Part, Relation, Result, SyntaxError, Term, Test};
use base::compat::features::restrictions::MULTI_CELL_USER_TYPES;
use base::compat::features::syntax;

/// The words that can follow a condition. After an invalid condition, parsing continues there.
const FOLLOWING: [&str; 9] = ["AND", "ORDER", "LIMIT", "ALLOW", "IF", "APPLY", "INSERT", "UPDATE", "DELETE"];

/// Maximum number of invalid conditions before parsing stops: each error message has to scan the whole text.
const FAULTS_MAX: usize = 20;

impl Parser<'_> {
    /// Parses the conditions after WHERE.
    pub(super) fn relations(&mut self) -> Result<Vec<Relation>> {
        let mut relations = Vec::new();
        let mut faults = 0;
        loop {
            match self.relation() {
                Ok(relation) => relations.push(relation),
                Err(fault @ SyntaxError::Syntax { .. }) if faults < FAULTS_MAX => {
                    faults += 1;
                    self.put_off(fault);
                    self.skip_condition();
                }
                Err(other) => return Err(other),
            }
            if !self.eat_word("AND") {
                return Ok(relations);
            }
        }
    }

    fn skip_condition(&mut self) {
        while self.kind(0) != TokenKind::End
            && !self.is_symbol(0, ";")
            && !FOLLOWING.iter().any(|word| self.is_word(0, word))
        {
            self.advance();
        }
    }

    fn relation(&mut self) -> Result<Relation> {
        self.nested(Self::any_relation)
    }

    fn any_relation(&mut self) -> Result<Relation> {
        if self.eat_word("TOKEN") {
            let columns = self.list_in_parentheses(Self::name)?;
            let operator = self.operator()?;
            return Ok(Relation::Token { columns, operator, value: self.term()? });
        }
        if self.is_symbol(0, "(") {
            let is_tuple = self.is_name(1) && (self.is_symbol(2, ",") || self.is_symbol(2, ")"));
            if is_tuple {
                self.needs(syntax::MULTI_COLUMN_RELATION);
                return self.relation_of_columns();
            }
            self.needs(syntax::RELATION_IN_PARENTHESES);
            self.advance();
            let relation = self.relation()?;
            self.expect_symbol(")")?;
            return Ok(relation);
        }
        self.relation_of_column()
    }

    fn relation_of_column(&mut self) -> Result<Relation> {
        let start = self.position();
        let column = self.name()?;
        if self.eat_word("IN") {
            return Ok(Relation::In { column, values: self.in_values()? });
        }
        if self.eat_word("CONTAINS") {
            self.needs(syntax::CONTAINS);
            let operator = if self.eat_word("KEY") { Operator::ContainsKey } else { Operator::Contains };
            return Ok(Relation::Column { column, element: None, operator, value: self.term()? });
        }
        let element = self.element()?;
        if element.is_some() {
            self.needs(syntax::ELEMENT_RELATION);
        }
        let Some(operator) = self.operator_here() else {
            return Err(match element {
                Some(_) => self.no_viable(0),
                None => self.no_viable_from(start, 0),
            });
        };
        Ok(Relation::Column { column, element, operator, value: self.term()? })
    }

    /// Parses `[key]`, or returns `None`.
    pub(super) fn element(&mut self) -> Result<Option<Term>> {
        if !self.eat_symbol("[") {
            return Ok(None);
        }
        let element = self.term()?;
        self.expect_symbol("]")?;
        Ok(Some(element))
    }

    /// Parses `[key]` or `.field`, or returns `None`. `refused` returns the error of releases without fields here.
    pub(super) fn part(&mut self, refused: impl Fn(&Self) -> SyntaxError) -> Result<Option<Part>> {
        if let Some(field) = self.field(refused)? {
            return Ok(Some(Part::Field(field)));
        }
        Ok(self.element()?.map(Part::Element))
    }

    /// Parses `.field`, or returns `None`.
    pub(super) fn field(&mut self, refused: impl Fn(&Self) -> SyntaxError) -> Result<Option<String>> {
        if !self.is_symbol(0, ".") {
            return Ok(None);
        }
        self.came_with(MULTI_CELL_USER_TYPES, refused(self));
        self.advance();
        self.needs(syntax::FIELD_CHANGE);
        self.name().map(Some)
    }

    fn relation_of_columns(&mut self) -> Result<Relation> {
        let columns = self.list_in_parentheses(Self::name)?;
        if self.eat_word("IN") {
            let values = match self.marker()? {
                Some(marker) => InValues::Marker(marker),
                None => InValues::List(self.list_or_nothing(Self::tuple_or_marker)?),
            };
            return Ok(Relation::ColumnsIn { columns, values });
        }
        let operator = self.operator()?;
        Ok(Relation::Columns { columns, operator, value: self.tuple_or_marker()? })
    }

    fn tuple_or_marker(&mut self) -> Result<Term> {
        if let Some(marker) = self.marker_term()? {
            return Ok(marker);
        }
        if !self.is_symbol(0, "(") {
            return Err(self.no_viable(0));
        }
        Ok(Term::Tuple(self.list_in_parentheses(Self::term)?))
    }

    /// Parses a list in parentheses that may be empty.
    fn list_or_nothing(&mut self, one: impl FnMut(&mut Self) -> Result<Term>) -> Result<Vec<Term>> {
        if self.is_symbol(0, "(") && self.is_symbol(1, ")") {
            self.needs(syntax::EMPTY_IN);
            self.advance();
            self.advance();
            return Ok(Vec::new());
        }
        self.list_in_parentheses(one)
    }

    fn in_values(&mut self) -> Result<InValues> {
        if let Some(marker) = self.marker()? {
            self.needs(syntax::IN_MARKER);
            return Ok(InValues::Marker(marker));
        }
        if !self.is_symbol(0, "(") {
            return Err(self.no_viable(0));
        }
        Ok(InValues::List(self.list_or_nothing(Self::term)?))
    }

    fn operator(&mut self) -> Result<Operator> {
        self.operator_here().ok_or_else(|| self.no_viable(0))
    }

    fn operator_here(&mut self) -> Option<Operator> {
        if self.kind(0) != TokenKind::Symbol {
            return None;
        }
        let operator = Operator::of_sign(self.raw(0))?;
        self.advance();
        Some(operator)
    }

    /// Parses the conditions after IF.
    pub(super) fn if_conditions(&mut self) -> Result<Vec<Condition>> {
        let mut conditions = vec![self.condition()?];
        while self.eat_word("AND") {
            conditions.push(self.condition()?);
        }
        Ok(conditions)
    }

    fn condition(&mut self) -> Result<Condition> {
        let start = self.position();
        let column = self.name()?;
        let part = self.part(|parser| parser.no_viable_from(start, 0))?;
        if part.is_some() || !self.is_symbol(0, "=") {
            self.needs(syntax::CONDITION_OPERATORS);
        }
        if self.eat_word("IN") {
            return Ok(Condition { column, part, test: Test::In(self.in_values()?) });
        }
        let Some(operator) = self.operator_here() else {
            return Err(match part {
                Some(Part::Field(_)) => self.no_viable(0),
                _ => self.no_viable_from(start, 0),
            });
        };
        Ok(Condition { column, part, test: Test::Compare(operator, self.term()?) })
    }

    /// Checks whether IF is followed by a condition on a column, whose name may look like a keyword.
    pub(super) fn is_condition(&self) -> bool {
        self.is_name(0)
            && (self.is_word(1, "IN") || self.kind(1) == TokenKind::Symbol && !self.is_symbol(1, ";"))
    }
}
