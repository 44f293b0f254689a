//! Parses the statements of CQL 2.

use super::statement::{
    Alter2, Change2, Changes2, Columns2, Command2, Comparison2, CreateTable2, NewValue2, Relation2, Select2,
    Statement2, Term2, Using2,
};
use crate::limits::{BATCH_STATEMENTS_MAX, PROPERTIES_MAX};
use crate::token::TokenKind;
use crate::{Parser, SyntaxError, TableName};
use base::compat::features::ConsistencyLevel;
use base::compat::features::releases::CQL_2;

/// The default maximum number of rows of a result.
const LIMIT: i32 = 10_000;

/// Words that cannot be terms.
const RESERVED: [&str; 23] = [
    "ALTER", "AND", "APPLY", "BATCH", "BEGIN", "CREATE", "DELETE", "DROP", "FIRST", "FROM", "IN", "INSERT",
    "INTO", "LIMIT", "PRIMARY", "REVERSED", "SELECT", "SET", "TRUNCATE", "UPDATE", "USING", "VALUES", "WITH",
];

/// Parses a statement. Returns it with its number of markers.
pub fn parse(text: &str) -> Result<(Statement2, usize), SyntaxError> {
    // Error messages of CQL 2 never show the words around the error.
    let mut reader = Cql2Parser(Parser::new(text, CQL_2)?);
    let statement = reader.statement()?;
    reader.0.end()?;
    Ok((statement, reader.0.markers.len()))
}

struct Cql2Parser<'t>(Parser<'t>);

impl Cql2Parser<'_> {
    fn statement(&mut self) -> Result<Statement2, SyntaxError> {
        let start = self.0.position();
        if self.0.eat_word("SELECT") {
            return Ok(Statement2::Select(self.select()?));
        }
        if let Some(change) = self.change()? {
            let using = Using2::default();
            return Ok(Statement2::Change(Changes2 { using, statements: vec![change], is_batch: false }));
        }
        if self.0.eat_word("BEGIN") {
            return Ok(Statement2::Change(self.batch()?));
        }
        if self.0.eat_word("USE") {
            return Ok(Statement2::Use(self.name()?));
        }
        if self.0.eat_word("TRUNCATE") {
            return Ok(Statement2::Truncate(self.table_name()?));
        }
        if self.0.eat_word("CREATE") {
            return self.create(start);
        }
        if self.0.eat_word("DROP") {
            return self.drop_statement(start);
        }
        if self.0.eat_words(&["ALTER", "TABLE"]) {
            let table = self.table_name()?;
            return Ok(Statement2::AlterTable { table, alter: self.alter()? });
        }
        Err(self.0.no_viable(0))
    }

    /// Parses a name, which keeps its case.
    fn name(&mut self) -> Result<String, SyntaxError> {
        let is_name = match self.0.kind(0) {
            TokenKind::String | TokenKind::Integer => true,
            _ => self.is_word(),
        };
        if is_name { Ok(self.0.take_value()) } else { Err(self.0.no_viable(0)) }
    }

    fn is_word(&self) -> bool {
        matches!(self.0.kind(0), TokenKind::Word | TokenKind::Boolean)
            && !RESERVED.iter().any(|word| self.0.is_word(0, word))
    }

    fn table_name(&mut self) -> Result<TableName, SyntaxError> {
        let name = self.name()?;
        if self.0.eat_symbol(".") {
            return Ok(TableName { keyspace: Some(name), name: self.name()? });
        }
        Ok(TableName { keyspace: None, name })
    }

    fn term(&mut self) -> Result<Term2, SyntaxError> {
        if self.0.is_symbol(0, "?")
            && let Some(marker) = self.0.marker()?
        {
            return Ok(Term2::Marker(marker));
        }
        let is_term = match self.0.kind(0) {
            TokenKind::String | TokenKind::Integer | TokenKind::Float | TokenKind::Uuid | TokenKind::Blob => {
                true
            }
            _ => self.is_word(),
        };
        if is_term { Ok(Term2::Text(self.0.take_value())) } else { Err(self.0.no_viable(0)) }
    }

    fn terms(&mut self) -> Result<Vec<Term2>, SyntaxError> {
        let mut terms = vec![self.term()?];
        while self.0.eat_symbol(",") {
            terms.push(self.term()?);
        }
        Ok(terms)
    }

    fn terms_in_parentheses(&mut self) -> Result<Vec<Term2>, SyntaxError> {
        self.0.expect_symbol("(")?;
        let terms = self.terms()?;
        self.0.expect_symbol(")")?;
        Ok(terms)
    }

    fn integer<N: std::str::FromStr>(&mut self) -> Result<N, SyntaxError> {
        let text = self.0.expect_kind(TokenKind::Integer, "INTEGER")?;
        text.parse().map_err(|_| SyntaxError::invalid(format!("{text} is not a number that fits here")))
    }

    fn level(&mut self) -> Result<ConsistencyLevel, SyntaxError> {
        let levels = [
            ("ONE", ConsistencyLevel::One),
            ("QUORUM", ConsistencyLevel::Quorum),
            ("ALL", ConsistencyLevel::All),
            ("ANY", ConsistencyLevel::Any),
            ("LOCAL_QUORUM", ConsistencyLevel::LocalQuorum),
            ("EACH_QUORUM", ConsistencyLevel::EachQuorum),
            ("TWO", ConsistencyLevel::Two),
            ("THREE", ConsistencyLevel::Three),
        ];
        let found = levels.iter().find(|(word, _)| self.0.is_word(0, word)).map(|(_, level)| *level);
        let Some(level) = found else {
            return Err(self.0.mismatched("K_LEVEL", false));
        };
        self.0.advance();
        Ok(level)
    }

    fn select(&mut self) -> Result<Select2, SyntaxError> {
        let first = if self.0.eat_word("FIRST") { Some(self.integer()?) } else { None };
        let is_reversed = self.0.eat_word("REVERSED");
        let columns = self.columns()?;
        self.0.expect_word("FROM")?;
        let table = self.table_name()?;
        let mut consistency = ConsistencyLevel::One;
        if self.0.eat_word("USING") {
            self.0.expect_word("CONSISTENCY")?;
            consistency = self.level()?;
        }
        let relations = if self.0.eat_word("WHERE") { self.relations()? } else { Vec::new() };
        let limit = if self.0.eat_word("LIMIT") { self.integer()? } else { LIMIT };
        Ok(Select2 { table, columns, first, is_reversed, consistency, relations, limit })
    }

    fn columns(&mut self) -> Result<Columns2, SyntaxError> {
        if self.0.eat_symbol("*") {
            return Ok(Columns2::All);
        }
        if self.0.is_word(0, "COUNT") && self.0.is_symbol(1, "(") {
            self.0.advance();
            self.0.advance();
            let is_one = self.0.raw(0) == "1";
            let counts_rows = self.0.is_symbol(0, "*") || is_one;
            self.0.advance();
            if !counts_rows {
                self.0.complain("Only COUNT(*) and COUNT(1) operations are currently supported.".to_owned());
            }
            self.0.expect_symbol(")")?;
            return Ok(Columns2::Count(is_one.then(|| Term2::Text("1".to_owned()))));
        }
        let first = self.term()?;
        if self.0.eat_symbol(".") {
            self.0.expect_symbol(".")?;
            return Ok(Columns2::Range(first, self.term()?));
        }
        let mut names = vec![first];
        if self.0.eat_symbol(",") {
            names.extend(self.terms()?);
        }
        Ok(Columns2::Names(names))
    }

    fn relations(&mut self) -> Result<Vec<Relation2>, SyntaxError> {
        let mut relations = vec![self.relation()?];
        while self.0.eat_word("AND") {
            relations.push(self.relation()?);
        }
        Ok(relations)
    }

    fn relation(&mut self) -> Result<Relation2, SyntaxError> {
        let name = self.term()?;
        if self.0.eat_word("IN") {
            return Ok(Relation2::In { name, values: self.terms_in_parentheses()? });
        }
        let operator = match self.0.raw(0) {
            "=" => Comparison2::Eq,
            "<" => Comparison2::Lt,
            "<=" => Comparison2::Lte,
            ">" => Comparison2::Gt,
            ">=" => Comparison2::Gte,
            _ => return Err(self.0.no_viable(0)),
        };
        self.0.advance();
        Ok(Relation2::Compare { name, operator, value: self.term()? })
    }

    fn using(&mut self) -> Result<Using2, SyntaxError> {
        let mut using = Using2::default();
        if !self.0.eat_word("USING") {
            return Ok(using);
        }
        loop {
            if self.0.eat_word("CONSISTENCY") {
                using.consistency = Some(self.level()?);
            } else if self.0.eat_word("TIMESTAMP") {
                using.timestamp = Some(self.integer()?);
            } else if self.0.eat_word("TTL") {
                using.ttl_s = Some(self.integer()?);
            } else {
                return Err(self.0.no_viable(0));
            }
            let goes_on = ["CONSISTENCY", "TIMESTAMP", "TTL"].iter().any(|word| self.0.is_word(0, word));
            // AND may be omitted.
            if !self.0.eat_word("AND") && !goes_on {
                return Ok(using);
            }
        }
    }

    fn batch(&mut self) -> Result<Changes2, SyntaxError> {
        self.0.expect_word("BATCH")?;
        let using = self.using()?;
        let mut statements = Vec::new();
        while let Some(statement) = self.change()? {
            if statements.len() >= BATCH_STATEMENTS_MAX {
                return Err(SyntaxError::invalid(format!(
                    "A batch can have {BATCH_STATEMENTS_MAX} statements at most"
                )));
            }
            statements.push(statement);
            self.0.eat_symbol(";");
        }
        self.0.expect_words(&["APPLY", "BATCH"])?;
        Ok(Changes2 { using, statements, is_batch: true })
    }

    /// Parses an INSERT, UPDATE or DELETE, or returns `None`.
    fn change(&mut self) -> Result<Option<Change2>, SyntaxError> {
        if self.0.eat_word("INSERT") {
            return self.insert().map(Some);
        }
        if self.0.eat_word("UPDATE") {
            return self.update().map(Some);
        }
        if self.0.eat_word("DELETE") {
            return self.delete().map(Some);
        }
        Ok(None)
    }

    fn insert(&mut self) -> Result<Change2, SyntaxError> {
        self.0.expect_word("INTO")?;
        let table = self.table_name()?;
        self.0.expect_symbol("(")?;
        let mut names = vec![self.term()?];
        if !self.0.is_symbol(0, ",") {
            return Err(self.0.early_exit());
        }
        while self.0.eat_symbol(",") {
            names.push(self.term()?);
        }
        self.0.expect_symbol(")")?;
        self.0.expect_word("VALUES")?;
        let mut values = self.terms_in_parentheses()?;
        let using = self.using()?;
        if names.len() != values.len() {
            return Err(SyntaxError::invalid("unmatched column names/values"));
        }
        let (key_name, key) = (names.remove(0), values.remove(0));
        let columns =
            names.into_iter().zip(values).map(|(name, value)| (name, NewValue2::Value(value))).collect();
        Ok(Change2 { table, using, key_name: Some(key_name), keys: vec![key], what: Command2::Set(columns) })
    }

    fn update(&mut self) -> Result<Change2, SyntaxError> {
        let table = self.table_name()?;
        let using = self.using()?;
        self.0.expect_word("SET")?;
        let mut columns = vec![self.assignment()?];
        while self.0.eat_symbol(",") {
            columns.push(self.assignment()?);
        }
        self.0.expect_word("WHERE")?;
        let (key_name, keys) = self.keys()?;
        Ok(Change2 { table, using, key_name: Some(key_name), keys, what: Command2::Set(columns) })
    }

    fn assignment(&mut self) -> Result<(Term2, NewValue2), SyntaxError> {
        let name = self.term()?;
        self.0.expect_symbol("=")?;
        let value = self.term()?;
        let is_plus = self.0.eat_symbol("+");
        let is_minus = !is_plus && self.0.eat_symbol("-");
        // In `a = a -2` the minus sign is part of the integer.
        if !is_plus && !is_minus && self.0.kind(0) != TokenKind::Integer {
            return Ok((name, NewValue2::Value(value)));
        }
        if name != value {
            self.0.complain("Only expressions like X = X + <long> are supported.".to_owned());
        }
        let delta: i64 = self.integer()?;
        Ok((name, NewValue2::Delta(if is_minus { delta.wrapping_neg() } else { delta })))
    }

    fn keys(&mut self) -> Result<(Term2, Vec<Term2>), SyntaxError> {
        let name = self.term()?;
        if self.0.eat_word("IN") {
            return Ok((name, self.terms_in_parentheses()?));
        }
        self.0.expect_symbol("=")?;
        Ok((name, vec![self.term()?]))
    }

    fn delete(&mut self) -> Result<Change2, SyntaxError> {
        let columns = if self.0.is_word(0, "FROM") { Vec::new() } else { self.terms()? };
        self.0.expect_word("FROM")?;
        let table = self.table_name()?;
        let using = self.using()?;
        let mut found = (None, Vec::new());
        if self.0.eat_word("WHERE") {
            let (name, keys) = self.keys()?;
            found = (Some(name), keys);
        }
        Ok(Change2 { table, using, key_name: found.0, keys: found.1, what: Command2::Delete(columns) })
    }

    fn create(&mut self, start: usize) -> Result<Statement2, SyntaxError> {
        if self.0.eat_word("KEYSPACE") {
            let name = self.name()?;
            self.0.expect_word("WITH")?;
            return Ok(Statement2::CreateKeyspace { name, properties: self.properties()? });
        }
        if self.0.eat_word("TABLE") {
            let table = self.table_name()?;
            self.0.expect_symbol("(")?;
            let mut columns = vec![self.column()?];
            while self.0.eat_symbol(",") {
                columns.push(self.column()?);
            }
            self.0.expect_symbol(")")?;
            let properties = if self.0.eat_word("WITH") { self.properties()? } else { Vec::new() };
            return Ok(Statement2::CreateTable(CreateTable2 { table, columns, properties }));
        }
        if self.0.eat_word("INDEX") {
            let name = if self.0.is_word(0, "ON") { None } else { Some(self.name()?) };
            self.0.expect_word("ON")?;
            let table = self.table_name()?;
            self.0.expect_symbol("(")?;
            let column = self.term()?;
            self.0.expect_symbol(")")?;
            return Ok(Statement2::CreateIndex { name, table, column });
        }
        Err(self.0.no_viable_from(start, 0))
    }

    fn column(&mut self) -> Result<(Term2, String, bool), SyntaxError> {
        let name = self.term()?;
        let class = self.name()?;
        let is_key = self.0.eat_word("PRIMARY");
        if is_key {
            self.0.expect_word("KEY")?;
        }
        Ok((name, class, is_key))
    }

    /// Parses `a = b AND c:d = e`.
    fn properties(&mut self) -> Result<Vec<(String, String)>, SyntaxError> {
        let mut properties = Vec::new();
        loop {
            let mut name = self.name()?;
            while self.0.eat_symbol(":") {
                name = format!("{name}:{}", self.name()?);
            }
            self.0.expect_symbol("=")?;
            let Term2::Text(value) = self.term()? else {
                return Err(SyntaxError::invalid("a property cannot be bound"));
            };
            if properties.len() >= PROPERTIES_MAX {
                return Err(SyntaxError::invalid(format!(
                    "There can be {PROPERTIES_MAX} properties at most"
                )));
            }
            properties.push((name, value));
            if !self.0.eat_word("AND") {
                return Ok(properties);
            }
        }
    }

    fn drop_statement(&mut self, start: usize) -> Result<Statement2, SyntaxError> {
        if self.0.eat_word("KEYSPACE") {
            return Ok(Statement2::DropKeyspace(self.name()?));
        }
        if self.0.eat_word("TABLE") {
            return Ok(Statement2::DropTable(self.table_name()?));
        }
        if self.0.eat_word("INDEX") {
            return Ok(Statement2::DropIndex(self.name()?));
        }
        Err(self.0.no_viable_from(start, 0))
    }

    fn alter(&mut self) -> Result<Alter2, SyntaxError> {
        if self.0.eat_word("ALTER") {
            let column = self.term()?;
            self.0.expect_word("TYPE")?;
            return Ok(Alter2::Type(column, self.name()?));
        }
        if self.0.eat_word("ADD") {
            let column = self.term()?;
            return Ok(Alter2::Add(column, self.name()?));
        }
        if self.0.eat_word("DROP") {
            return Ok(Alter2::Drop(self.term()?));
        }
        if self.0.eat_word("WITH") {
            return Ok(Alter2::With(self.properties()?));
        }
        Err(self.0.no_viable(0))
    }
}
