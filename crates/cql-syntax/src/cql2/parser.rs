//! Parses the statements of CQL 2.

use super::statement::{
    Alter2, Change2, Changes2, Columns2, Command2, Comparison2, CreateTable2, NewValue2, Relation2, Select2,
    Statement2, Term2, Using2,
};
use crate::error::invalid;
use crate::limits::{BATCH_STATEMENTS_MAX, PROPERTIES_MAX};
use crate::token::TokenKind;
use crate::{Parser, Result, SyntaxError, TableName};
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
pub fn parse(text: &str) -> Result<(Statement2, usize)> {
    // Error messages of CQL 2 never show the words around the error.
    let mut parser = Parser::new(text, CQL_2)?;
    let statement = statement(&mut parser)?;
    parser.end()?;
    Ok((statement, parser.markers.len()))
}

fn statement(parser: &mut Parser<'_>) -> Result<Statement2> {
    let start = parser.position();
    if parser.eat_word("SELECT") {
        return Ok(Statement2::Select(select(parser)?));
    }
    if let Some(change) = change(parser)? {
        let using = Using2::default();
        return Ok(Statement2::Change(Changes2 { using, statements: vec![change], is_batch: false }));
    }
    if parser.eat_word("BEGIN") {
        return Ok(Statement2::Change(batch(parser)?));
    }
    if parser.eat_word("USE") {
        return Ok(Statement2::Use(exact_name(parser)?));
    }
    if parser.eat_word("TRUNCATE") {
        return Ok(Statement2::Truncate(table_name(parser)?));
    }
    if parser.eat_word("CREATE") {
        return create(parser, start);
    }
    if parser.eat_word("DROP") {
        return drop_statement(parser, start);
    }
    if parser.eat_words(&["ALTER", "TABLE"]) {
        let table = table_name(parser)?;
        return Ok(Statement2::AlterTable { table, alter: alter(parser)? });
    }
    Err(parser.no_viable(0))
}

/// Parses a name, which keeps its case.
fn exact_name(parser: &mut Parser<'_>) -> Result<String> {
    let is_name = match parser.kind(0) {
        TokenKind::String | TokenKind::Integer => true,
        _ => is_word(parser),
    };
    if is_name { Ok(parser.take_value()) } else { Err(parser.no_viable(0)) }
}

fn is_word(parser: &Parser<'_>) -> bool {
    matches!(parser.kind(0), TokenKind::Word | TokenKind::Boolean)
        && !RESERVED.iter().any(|word| parser.is_word(0, word))
}

fn table_name(parser: &mut Parser<'_>) -> Result<TableName> {
    let name = exact_name(parser)?;
    if parser.eat_symbol(".") {
        return Ok(TableName { keyspace: Some(name), name: exact_name(parser)? });
    }
    Ok(TableName { keyspace: None, name })
}

fn term(parser: &mut Parser<'_>) -> Result<Term2> {
    if parser.is_symbol(0, "?")
        && let Some(marker) = parser.marker()?
    {
        return Ok(Term2::Marker(marker));
    }
    let is_term = match parser.kind(0) {
        TokenKind::String | TokenKind::Integer | TokenKind::Float | TokenKind::Uuid | TokenKind::Blob => true,
        _ => is_word(parser),
    };
    if is_term { Ok(Term2::Text(parser.take_value())) } else { Err(parser.no_viable(0)) }
}

fn integer<N: std::str::FromStr>(parser: &mut Parser<'_>) -> Result<N> {
    let text = parser.expect_kind(TokenKind::Integer, "INTEGER")?;
    text.parse().map_err(|_| SyntaxError::invalid(format!("{text} is not a number that fits here")))
}

fn level(parser: &mut Parser<'_>) -> Result<ConsistencyLevel> {
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
    let found = levels.iter().find(|(word, _)| parser.is_word(0, word)).map(|(_, level)| *level);
    let Some(level) = found else {
        return Err(parser.mismatched("K_LEVEL", false));
    };
    parser.advance();
    Ok(level)
}

fn select(parser: &mut Parser<'_>) -> Result<Select2> {
    let is_count = parser.is_word(0, "COUNT") && parser.is_symbol(1, "(");
    if is_count {
        parser.advance();
        parser.advance();
    }
    let first = if parser.eat_word("FIRST") { Some(integer(parser)?) } else { None };
    let is_reversed = parser.eat_word("REVERSED");
    let mut columns = columns(parser)?;
    if is_count {
        parser.expect_symbol(")")?;
        columns = Columns2::Count(Box::new(columns));
    }
    parser.expect_word("FROM")?;
    let table = table_name(parser)?;
    let mut consistency = ConsistencyLevel::One;
    if parser.eat_word("USING") {
        parser.expect_word("CONSISTENCY")?;
        consistency = level(parser)?;
    }
    let relations = if parser.eat_word("WHERE") { relations(parser)? } else { Vec::new() };
    let limit = if parser.eat_word("LIMIT") { integer(parser)? } else { LIMIT };
    Ok(Select2 { table, columns, first, is_reversed, consistency, relations, limit })
}

fn columns(parser: &mut Parser<'_>) -> Result<Columns2> {
    if parser.eat_symbol("*") {
        return Ok(Columns2::All);
    }
    let first = term(parser)?;
    if parser.eat_symbol(".") {
        parser.expect_symbol(".")?;
        return Ok(Columns2::Range(first, term(parser)?));
    }
    let mut names = vec![first];
    if parser.eat_symbol(",") {
        names.extend(parser.list(term)?);
    }
    Ok(Columns2::Names(names))
}

fn relations(parser: &mut Parser<'_>) -> Result<Vec<Relation2>> {
    let mut relations = vec![relation(parser)?];
    while parser.eat_word("AND") {
        relations.push(relation(parser)?);
    }
    Ok(relations)
}

fn relation(parser: &mut Parser<'_>) -> Result<Relation2> {
    let name = term(parser)?;
    if parser.eat_word("IN") {
        return Ok(Relation2::In { name, values: parser.list_in_parentheses(term)? });
    }
    let operator = match parser.raw(0) {
        "=" => Comparison2::Eq,
        "<" => Comparison2::Lt,
        "<=" => Comparison2::Lte,
        ">" => Comparison2::Gt,
        ">=" => Comparison2::Gte,
        _ => return Err(parser.no_viable(0)),
    };
    parser.advance();
    Ok(Relation2::Compare { name, operator, value: term(parser)? })
}

fn using(parser: &mut Parser<'_>) -> Result<Using2> {
    let mut using = Using2::default();
    if !parser.eat_word("USING") {
        return Ok(using);
    }
    loop {
        if parser.eat_word("CONSISTENCY") {
            using.consistency = Some(level(parser)?);
        } else if parser.eat_word("TIMESTAMP") {
            using.timestamp = Some(integer(parser)?);
        } else if parser.eat_word("TTL") {
            using.ttl_s = Some(integer(parser)?);
        } else {
            return Err(parser.no_viable(0));
        }
        let goes_on = ["CONSISTENCY", "TIMESTAMP", "TTL"].iter().any(|word| parser.is_word(0, word));
        // AND may be omitted.
        if !parser.eat_word("AND") && !goes_on {
            return Ok(using);
        }
    }
}

fn batch(parser: &mut Parser<'_>) -> Result<Changes2> {
    parser.expect_word("BATCH")?;
    let using = using(parser)?;
    let mut statements = Vec::new();
    while let Some(statement) = change(parser)? {
        if statements.len() >= BATCH_STATEMENTS_MAX {
            return invalid(format!("A batch can have {BATCH_STATEMENTS_MAX} statements at most"));
        }
        statements.push(statement);
        parser.eat_symbol(";");
    }
    parser.expect_words(&["APPLY", "BATCH"])?;
    Ok(Changes2 { using, statements, is_batch: true })
}

/// Parses an INSERT, UPDATE or DELETE, or returns `None`.
fn change(parser: &mut Parser<'_>) -> Result<Option<Change2>> {
    if parser.eat_word("INSERT") {
        return insert(parser).map(Some);
    }
    if parser.eat_word("UPDATE") {
        return update(parser).map(Some);
    }
    if parser.eat_word("DELETE") {
        return delete(parser).map(Some);
    }
    Ok(None)
}

fn insert(parser: &mut Parser<'_>) -> Result<Change2> {
    parser.expect_word("INTO")?;
    let table = table_name(parser)?;
    parser.expect_symbol("(")?;
    let mut names = vec![term(parser)?];
    if !parser.is_symbol(0, ",") {
        return Err(parser.early_exit());
    }
    while parser.eat_symbol(",") {
        names.push(term(parser)?);
    }
    parser.expect_symbol(")")?;
    parser.expect_word("VALUES")?;
    let mut values = parser.list_in_parentheses(term)?;
    let using = using(parser)?;
    if names.len() != values.len() {
        return invalid("unmatched column names/values");
    }
    let (key_name, key) = (names.remove(0), values.remove(0));
    let columns =
        names.into_iter().zip(values).map(|(name, value)| (name, NewValue2::Value(value))).collect();
    Ok(Change2 { table, using, key_name: Some(key_name), keys: vec![key], what: Command2::Set(columns) })
}

fn update(parser: &mut Parser<'_>) -> Result<Change2> {
    let table = table_name(parser)?;
    let using = using(parser)?;
    parser.expect_word("SET")?;
    let columns = parser.list(assignment)?;
    parser.expect_word("WHERE")?;
    let (key_name, keys) = keys(parser)?;
    Ok(Change2 { table, using, key_name: Some(key_name), keys, what: Command2::Set(columns) })
}

fn assignment(parser: &mut Parser<'_>) -> Result<(Term2, NewValue2)> {
    let name = term(parser)?;
    parser.expect_symbol("=")?;
    let value = term(parser)?;
    let is_plus = parser.eat_symbol("+");
    let is_minus = !is_plus && parser.eat_symbol("-");
    // In `a = a -2` the minus sign is part of the integer.
    if !is_plus && !is_minus && parser.kind(0) != TokenKind::Integer {
        return Ok((name, NewValue2::Value(value)));
    }
    if name != value {
        parser.complain("Only expressions like X = X + <long> are supported.".to_owned());
    }
    let delta: i64 = integer(parser)?;
    Ok((name, NewValue2::Delta(if is_minus { delta.wrapping_neg() } else { delta })))
}

fn keys(parser: &mut Parser<'_>) -> Result<(Term2, Vec<Term2>)> {
    let name = term(parser)?;
    if parser.eat_word("IN") {
        return Ok((name, parser.list_in_parentheses(term)?));
    }
    parser.expect_symbol("=")?;
    Ok((name, vec![term(parser)?]))
}

fn delete(parser: &mut Parser<'_>) -> Result<Change2> {
    let columns = if parser.is_word(0, "FROM") { Vec::new() } else { parser.list(term)? };
    parser.expect_word("FROM")?;
    let table = table_name(parser)?;
    let using = using(parser)?;
    let mut found = (None, Vec::new());
    if parser.eat_word("WHERE") {
        let (name, keys) = keys(parser)?;
        found = (Some(name), keys);
    }
    Ok(Change2 { table, using, key_name: found.0, keys: found.1, what: Command2::Delete(columns) })
}

fn create(parser: &mut Parser<'_>, start: usize) -> Result<Statement2> {
    if parser.eat_word("KEYSPACE") {
        let name = exact_name(parser)?;
        parser.expect_word("WITH")?;
        return Ok(Statement2::CreateKeyspace { name, properties: properties(parser)? });
    }
    if parser.eat_word("TABLE") {
        let table = table_name(parser)?;
        let columns = parser.list_in_parentheses(column)?;
        let properties = if parser.eat_word("WITH") { properties(parser)? } else { Vec::new() };
        return Ok(Statement2::CreateTable(CreateTable2 { table, columns, properties }));
    }
    if parser.eat_word("INDEX") {
        let name = if parser.is_word(0, "ON") { None } else { Some(exact_name(parser)?) };
        parser.expect_word("ON")?;
        let table = table_name(parser)?;
        parser.expect_symbol("(")?;
        let column = term(parser)?;
        parser.expect_symbol(")")?;
        return Ok(Statement2::CreateIndex { name, table, column });
    }
    Err(parser.no_viable_from(start, 0))
}

fn column(parser: &mut Parser<'_>) -> Result<(Term2, String, bool)> {
    let name = term(parser)?;
    let class = exact_name(parser)?;
    let is_key = parser.eat_word("PRIMARY");
    if is_key {
        parser.expect_word("KEY")?;
    }
    Ok((name, class, is_key))
}

/// Parses `a = b AND c:d = e`.
fn properties(parser: &mut Parser<'_>) -> Result<Vec<(String, String)>> {
    let mut properties = Vec::new();
    loop {
        let mut name = exact_name(parser)?;
        while parser.eat_symbol(":") {
            name = format!("{name}:{}", exact_name(parser)?);
        }
        parser.expect_symbol("=")?;
        let Term2::Text(value) = term(parser)? else {
            return invalid("a property cannot be bound");
        };
        if properties.len() >= PROPERTIES_MAX {
            return invalid(format!("There can be {PROPERTIES_MAX} properties at most"));
        }
        properties.push((name, value));
        if !parser.eat_word("AND") {
            return Ok(properties);
        }
    }
}

fn drop_statement(parser: &mut Parser<'_>, start: usize) -> Result<Statement2> {
    if parser.eat_word("KEYSPACE") {
        return Ok(Statement2::DropKeyspace(exact_name(parser)?));
    }
    if parser.eat_word("TABLE") {
        return Ok(Statement2::DropTable(table_name(parser)?));
    }
    if parser.eat_word("INDEX") {
        return Ok(Statement2::DropIndex(exact_name(parser)?));
    }
    Err(parser.no_viable_from(start, 0))
}

fn alter(parser: &mut Parser<'_>) -> Result<Alter2> {
    if parser.eat_word("ALTER") {
        let column = term(parser)?;
        parser.expect_word("TYPE")?;
        return Ok(Alter2::Type(column, exact_name(parser)?));
    }
    if parser.eat_word("ADD") {
        let column = term(parser)?;
        return Ok(Alter2::Add(column, exact_name(parser)?));
    }
    if parser.eat_word("DROP") {
        return Ok(Alter2::Drop(term(parser)?));
    }
    if parser.eat_word("WITH") {
        return Ok(Alter2::With(properties(parser)?));
    }
    Err(parser.no_viable(0))
}
