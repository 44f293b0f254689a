//! Parses SELECT.

use super::{Parser, last_named};
use crate::limits::STATEMENT_NESTING_MAX;
use crate::token::TokenKind;
use crate::{Result, Select, Selected, Selection, Selector, SyntaxError};
use base::compat::Behaviour;
use base::compat::features::syntax;

impl Parser<'_> {
    pub(super) fn select(&mut self) -> Result<Select> {
        self.expect_word("SELECT")?;
        let is_json = self.is_modifier("JSON") && self.eat_word("JSON");
        if is_json {
            self.needs(syntax::JSON);
        }
        if !Behaviour::of(self.release).cql.has_distinct && self.is_modifier("DISTINCT") {
            // DISTINCT is a column name there, so the next token is unexpected.
            return Err(self.no_viable(1));
        }
        let is_distinct = self.is_modifier("DISTINCT") && self.eat_word("DISTINCT");
        let selection = self.selection()?;
        self.expect_word("FROM")?;
        let table = self.table_name()?;
        let relations = if self.eat_word("WHERE") { self.relations()? } else { Vec::new() };
        let mut group_by = Vec::new();
        if self.eat_words(&["GROUP", "BY"]) {
            self.needs(syntax::GROUP_BY);
            group_by = self.list(Self::name)?;
        }
        let mut order_by = Vec::new();
        if self.eat_word("ORDER") {
            self.expect_word("BY")?;
            order_by = last_named(self.list(Self::ordering)?);
        }
        let mut per_partition_limit = None;
        if self.eat_words(&["PER", "PARTITION"]) {
            self.needs(syntax::PER_PARTITION_LIMIT);
            self.expect_word("LIMIT")?;
            per_partition_limit = Some(self.integer()?);
        }
        let limit = if self.eat_word("LIMIT") { Some(self.integer()?) } else { None };
        let allow_filtering = self.eat_word("ALLOW");
        if allow_filtering {
            self.expect_word("FILTERING")?;
        }
        Ok(Select {
            table,
            is_json,
            is_distinct,
            selection,
            relations,
            group_by,
            order_by,
            per_partition_limit,
            limit,
            allow_filtering,
        })
    }

    /// Checks whether a word is a modifier before the selection, instead of a column with this name.
    fn is_modifier(&self, word: &str) -> bool {
        self.is_word(0, word)
            && !self.is_word(1, "FROM")
            && !self.is_word(1, "AS")
            && ![",", ".", "("].iter().any(|symbol| self.is_symbol(1, symbol))
    }

    fn selection(&mut self) -> Result<Selection> {
        if self.eat_symbol("*") {
            return Ok(Selection::All);
        }
        let mut selected = self.list(Self::selected)?;
        if let [Selected { selector: Selector::CountRows, alias }] = &mut selected[..] {
            return Ok(Selection::Count { alias: alias.take() });
        }
        if selected.iter().any(|selected| selected.selector == Selector::CountRows) {
            self.needs(syntax::COUNT_AMONG_OTHERS);
        }
        Ok(Selection::Some(selected))
    }

    /// Parses `count(*)` or `count(1)`.
    fn count(&mut self) -> Result<Selector> {
        self.advance();
        self.expect_symbol("(")?;
        let counted = self.take_value();
        if !matches!(counted.as_str(), "*" | "1") {
            self.complain(format!("Only COUNT(1) is supported, got COUNT({counted})"));
        }
        self.expect_symbol(")")?;
        Ok(Selector::CountRows)
    }

    fn alias(&mut self) -> Result<Option<String>> {
        if !self.eat_word("AS") {
            return Ok(None);
        }
        self.needs(syntax::AS);
        self.name().map(Some)
    }

    fn selected(&mut self) -> Result<Selected> {
        let selector = self.selector()?;
        Ok(Selected { selector, alias: self.alias()? })
    }

    fn selector(&mut self) -> Result<Selector> {
        self.nested(|parser| {
            let mut selector = parser.whole_selector()?;
            let mut fields = 0;
            while parser.eat_symbol(".") {
                parser.needs(syntax::FIELD);
                // Each field nests the selector one level deeper.
                fields += 1;
                if fields > STATEMENT_NESTING_MAX {
                    return Err(parser.no_viable(0));
                }
                selector = Selector::Field { of: Box::new(selector), field: parser.name()? };
            }
            Ok(selector)
        })
    }

    fn whole_selector(&mut self) -> Result<Selector> {
        let of_column = |parser: &mut Self| {
            parser.advance();
            parser.expect_symbol("(")?;
            let column = parser.name()?;
            parser.expect_symbol(")")?;
            Ok::<_, SyntaxError>(column)
        };
        let counts_rows = self.is_symbol(2, "*") || self.kind(2) == TokenKind::Integer;
        if self.is_word(0, "COUNT") && self.is_symbol(1, "(") && counts_rows {
            return self.count();
        }
        if self.is_word(0, "CAST") && self.is_symbol(1, "(") {
            self.needs(syntax::CAST);
            return self.cast_selector();
        }
        if self.is_symbol(1, "(") && self.is_word(0, "WRITETIME") {
            return Ok(Selector::WriteTime(of_column(self)?));
        }
        if self.is_symbol(1, "(") && self.is_word(0, "TTL") {
            return Ok(Selector::Ttl(of_column(self)?));
        }
        let is_count = self.is_word(0, "COUNT") && self.is_symbol(1, "(");
        if let Some((keyspace, name)) = self.function_name()? {
            if self.language.lacks_function(&name) {
                // In languages without count(v), COUNT is a keyword, after which only `*` and 1 may stand. The error shows the
                // text around it, so only the first is made.
                if !is_count {
                    self.put_off(SyntaxError::invalid(format!("Unknown function '{name}'")));
                } else if !self.has_fault() {
                    self.put_off(self.no_viable_from(self.index(1), 1));
                }
            }
            return Ok(Selector::Function { keyspace, name, arguments: self.selector_arguments()? });
        }
        Ok(Selector::Column(self.name()?))
    }

    /// Parses `CAST(selector AS type)`.
    fn cast_selector(&mut self) -> Result<Selector> {
        self.advance();
        self.expect_symbol("(")?;
        let of = Box::new(self.selector()?);
        self.expect_word("AS")?;
        let cql_type = self.name()?;
        self.expect_symbol(")")?;
        Ok(Selector::Cast { of, cql_type })
    }

    fn selector_arguments(&mut self) -> Result<Vec<Selector>> {
        let start = self.position();
        // The old parser already refuses a constant when it chooses between `()` and arguments.
        if !self.is_symbol(1, ")") && !self.is_name(1) && !self.is_word(1, "TOKEN") {
            return Err(self.no_viable_from(start, 1));
        }
        self.expect_symbol("(")?;
        let arguments = if self.is_symbol(0, ")") { Vec::new() } else { self.list(Self::selector)? };
        self.expect_symbol(")")?;
        Ok(arguments)
    }

    fn ordering(&mut self) -> Result<(String, bool)> {
        let column = self.name()?;
        let is_backwards = self.eat_word("DESC");
        if !is_backwards {
            self.eat_word("ASC");
        }
        Ok((column, is_backwards))
    }
}
