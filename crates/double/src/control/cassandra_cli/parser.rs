//! Parses scripts of cassandra-cli.

use super::lexer::{CliLexer, CliScriptError, CliToken, ScriptPlace};
use super::statement::{
    Assumption, Attribute, AttributeValue, CellPath, CliStatement, CliTerm, FamilyDefinition,
};
use crate::limits::CLI_MAPS_DEPTH_MAX;

/// Statements without an effect on stored data. They are skipped.
const WITHOUT_EFFECT: &[&str] =
    &["connect", "consistencylevel", "count", "describe", "exit", "get", "help", "list", "quit", "show"];

/// The statements with an effect.
const WITH_EFFECT: &str = "use, create, update, drop, set, incr, decr, del, truncate or assume";

/// The statements of a script, each with the place where it begins, or the first mistake. Names and types are not
/// checked here.
pub(super) struct Statements<'s>(CliLexer<'s>);

impl<'s> Statements<'s> {
    pub(super) fn of(script: &'s str) -> Statements<'s> {
        Statements(CliLexer::new(script))
    }

    fn parse_next(&mut self) -> Result<Option<(ScriptPlace, CliStatement)>, CliScriptError> {
        loop {
            let tokens = self.0.statement()?;
            match &tokens[..] {
                [(_, CliToken::End)] | [] => return Ok(None),
                [_] => {}
                [(place, _), ..] => {
                    let mut parser = CliParser { tokens: &tokens, at: 0 };
                    let statement = parser.statement()?;
                    if parser.at + 1 < tokens.len() {
                        return parser.error("`;`");
                    }
                    return Ok(Some((*place, statement)));
                }
            }
        }
    }
}

impl Iterator for Statements<'_> {
    type Item = Result<(ScriptPlace, CliStatement), CliScriptError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.parse_next().transpose()
    }
}

/// Parses the tokens of a statement.
struct CliParser<'t> {
    /// The last is a semicolon or `End`.
    tokens: &'t [(ScriptPlace, CliToken)],
    at: usize,
}

impl CliParser<'_> {
    fn place(&self) -> ScriptPlace {
        self.tokens[self.at].0
    }

    fn token(&self) -> &CliToken {
        &self.tokens[self.at].1
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn error<T>(&self, expected: &str) -> Result<T, CliScriptError> {
        Err(CliScriptError::new(
            self.place(),
            format!("{} is not allowed here: use {expected}", self.token()),
        ))
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.token(), CliToken::Word(found) if found.eq_ignore_ascii_case(word))
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_next = self.is_word(word);
        if is_next {
            self.advance();
        }
        is_next
    }

    fn takes(&mut self, sign: char) -> bool {
        let is_next = *self.token() == CliToken::Sign(sign);
        if is_next {
            self.advance();
        }
        is_next
    }

    fn expect(&mut self, sign: char) -> Result<(), CliScriptError> {
        if self.takes(sign) { Ok(()) } else { self.error(&format!("`{sign}`")) }
    }

    fn expect_word(&mut self, word: &str) -> Result<(), CliScriptError> {
        if self.takes_word(word) { Ok(()) } else { self.error(&format!("`{word}`")) }
    }

    fn statement(&mut self) -> Result<CliStatement, CliScriptError> {
        let CliToken::Word(word) = self.token() else { return self.error(WITH_EFFECT) };
        let word = word.to_ascii_lowercase();
        if WITHOUT_EFFECT.contains(&&*word) {
            while !matches!(self.token(), CliToken::Sign(';') | CliToken::End) {
                self.advance();
            }
            return Ok(CliStatement::Nothing);
        }
        if !["use", "create", "update", "drop", "set", "incr", "decr", "del", "truncate", "assume"]
            .contains(&&*word)
        {
            return self.error(WITH_EFFECT);
        }
        self.advance();
        match &*word {
            "use" => {
                let keyspace = self.name("a keyspace")?;
                if let [(_, CliToken::Word(_)), (_, CliToken::Text(_)), ..] = self.tokens[self.at..] {
                    // A user and a password.
                    self.at += 2;
                }
                Ok(CliStatement::Use(keyspace))
            }
            "set" => self.set(),
            "incr" => self.add(1),
            "decr" => self.add(-1),
            "del" => self.path().map(CliStatement::Delete),
            "truncate" => self.name("a column family").map(CliStatement::Truncate),
            "assume" => self.assume(),
            _ => self.definition(&word),
        }
    }

    /// Parses the rest of CREATE, UPDATE and DROP.
    fn definition(&mut self, word: &str) -> Result<CliStatement, CliScriptError> {
        if word == "drop" && self.takes_word("index") {
            self.expect_word("on")?;
            let family = self.name("a column family")?;
            self.expect('.')?;
            return Ok(CliStatement::DropIndex { family, column: self.name("a column")? });
        }
        let is_keyspace = self.takes_word("keyspace");
        if !is_keyspace {
            if !self.takes_word("column") {
                return self.error("`keyspace` or `column family`");
            }
            self.expect_word("family")?;
        }
        let name = self.name(if is_keyspace { "a keyspace" } else { "a column family" })?;
        if word == "drop" {
            return Ok(if is_keyspace {
                CliStatement::DropKeyspace(name)
            } else {
                CliStatement::DropFamily(name)
            });
        }
        let definition = FamilyDefinition { name, attributes: self.attributes()? };
        Ok(match (word, is_keyspace) {
            ("create", true) => CliStatement::CreateKeyspace(definition),
            ("create", false) => CliStatement::CreateFamily(definition),
            (_, true) => CliStatement::UpdateKeyspace(definition),
            (_, false) => CliStatement::UpdateFamily(definition),
        })
    }

    fn attributes(&mut self) -> Result<Vec<Attribute>, CliScriptError> {
        let mut attributes = Vec::new();
        while self.takes_word("with") || self.takes_word("and") {
            let place = self.place();
            let CliToken::Word(name) = self.token() else { return self.error("the name of an attribute") };
            let name = name.to_ascii_lowercase();
            self.advance();
            self.expect('=')?;
            attributes.push(Attribute { place, name, value: self.attribute_value()? });
        }
        Ok(attributes)
    }

    fn attribute_value(&mut self) -> Result<AttributeValue, CliScriptError> {
        if *self.token() == CliToken::Sign('{') {
            return self.map(1).map(AttributeValue::Map);
        }
        if !self.takes('[') {
            return self.text("a value, such as UTF8Type or 'a text'").map(AttributeValue::Text);
        }
        let mut maps = Vec::new();
        while !self.takes(']') {
            maps.push(self.map(1)?);
            self.takes(',');
        }
        Ok(AttributeValue::List(maps))
    }

    /// Reads a map, which is within `depth - 1` others.
    fn map(&mut self, depth: usize) -> Result<Vec<(String, AttributeValue)>, CliScriptError> {
        if depth > CLI_MAPS_DEPTH_MAX {
            let why =
                format!("more than {CLI_MAPS_DEPTH_MAX} maps are in each other: no attribute has so many");
            return Err(CliScriptError::new(self.place(), why));
        }
        self.expect('{')?;
        let mut pairs = Vec::new();
        loop {
            let name = self.text("a name")?;
            self.expect(':')?;
            let value = match self.token() {
                CliToken::Sign('{') => AttributeValue::Map(self.map(depth + 1)?),
                _ => AttributeValue::Text(self.text("a value")?),
            };
            pairs.push((name, value));
            if self.takes('}') {
                return Ok(pairs);
            }
            self.expect(',')?;
        }
    }

    fn set(&mut self) -> Result<CliStatement, CliScriptError> {
        let path = self.path_of_column()?;
        self.expect('=')?;
        let value = self.term("a value, such as 'text', 42 or utf8('text')")?;
        let mut ttl_s = None;
        if self.takes_word("with") {
            self.expect_word("ttl")?;
            self.expect('=')?;
            ttl_s = Some(self.number("a number of seconds")?);
        }
        Ok(CliStatement::Set { path, value, ttl_s })
    }

    fn add(&mut self, sign: i64) -> Result<CliStatement, CliScriptError> {
        let path = self.path_of_column()?;
        let by: i64 = if self.takes_word("by") { self.number("a whole number")? } else { 1 };
        Ok(CliStatement::Add { path, delta: sign.wrapping_mul(by) })
    }

    fn assume(&mut self) -> Result<CliStatement, CliScriptError> {
        let family = self.name("a column family")?;
        let of = match self.token() {
            _ if self.is_word("keys") => Assumption::Keys,
            _ if self.is_word("comparator") => Assumption::Comparator,
            _ if self.is_word("sub_comparator") => Assumption::SubComparator,
            _ if self.is_word("validator") => Assumption::Validator,
            _ => return self.error("`keys`, `comparator`, `sub_comparator` or `validator`"),
        };
        self.advance();
        self.expect_word("as")?;
        Ok(CliStatement::Assume { family, of, function: self.name("a type, such as utf8")? })
    }

    fn path_of_column(&mut self) -> Result<CellPath, CliScriptError> {
        let path = self.path()?;
        if path.names.is_empty() { self.error("the name of a column: [name]") } else { Ok(path) }
    }

    fn path(&mut self) -> Result<CellPath, CliScriptError> {
        let family = self.name("a column family")?;
        let mut parts = Vec::new();
        self.expect('[')?;
        loop {
            parts.push(self.term("a key or name, such as 'text', 42 or utf8('text')")?);
            self.expect(']')?;
            if parts.len() == 3 || !self.takes('[') {
                break;
            }
        }
        let key = parts.remove(0);
        Ok(CellPath { family, key, names: parts })
    }

    fn term(&mut self, expected: &str) -> Result<CliTerm, CliScriptError> {
        let may_be_function = matches!(self.token(), CliToken::Word(_));
        let text = self.text(expected)?;
        if !may_be_function || !self.takes('(') {
            return Ok(CliTerm::Plain(text));
        }
        let function = text;
        if self.takes(')') {
            return Ok(CliTerm::Typed { function, text: None });
        }
        let text = self.text("a text in the form of the type")?;
        self.expect(')')?;
        Ok(CliTerm::Typed { function, text: Some(text) })
    }

    /// Parses the name of a part of the schema.
    fn name(&mut self, of: &str) -> Result<String, CliScriptError> {
        self.text(&format!("the name of {of}"))
    }

    fn number<T: std::str::FromStr>(&mut self, expected: &str) -> Result<T, CliScriptError> {
        let CliToken::Integer(digits) = self.token() else { return self.error(expected) };
        let Ok(number) = digits.parse() else { return self.error(&format!("{expected} that is smaller")) };
        self.advance();
        Ok(number)
    }

    fn text(&mut self, expected: &str) -> Result<String, CliScriptError> {
        let (CliToken::Word(text) | CliToken::Text(text) | CliToken::Integer(text) | CliToken::Decimal(text)) =
            self.token()
        else {
            return self.error(expected);
        };
        let text = text.clone();
        self.advance();
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(script: &str) -> Result<Vec<CliStatement>, CliScriptError> {
        Statements::of(script).map(|statement| statement.map(|(_, statement)| statement)).collect()
    }

    #[test]
    fn statements_are_parsed() {
        let script = "use ks anna 'secret'; LIST a[1:2] limit 3; set U[utf8('k')][timeuuid()] = 'v' with ttl = 60;
            incr C[k][s][n] by -2; decr C[k][n]; Create Column Family U with comparator = UTF8Type
            and column_metadata=[{column_name: a, validation_class: LongType} {column_name:b, validation_class:x}];";
        let statements = parse(script).unwrap();
        let plain = |text: &str| CliTerm::Plain(text.to_owned());
        let typed = |function: &str, text: Option<&str>| CliTerm::Typed {
            function: function.to_owned(),
            text: text.map(str::to_owned),
        };
        assert_eq!(statements[0], CliStatement::Use("ks".to_owned()));
        assert_eq!(statements[1], CliStatement::Nothing);
        let (key, names) = (typed("utf8", Some("k")), vec![typed("timeuuid", None)]);
        let path = CellPath { family: "U".to_owned(), key, names };
        assert_eq!(statements[2], CliStatement::Set { path, value: plain("v"), ttl_s: Some(60) });
        let path = |names: &[&str]| CellPath {
            family: "C".to_owned(),
            key: plain("k"),
            names: names.iter().map(|name| plain(name)).collect(),
        };
        assert_eq!(statements[3], CliStatement::Add { path: path(&["s", "n"]), delta: -2 });
        assert_eq!(statements[4], CliStatement::Add { path: path(&["n"]), delta: -1 });
        let CliStatement::CreateFamily(FamilyDefinition { attributes, .. }) = &statements[5] else {
            panic!("{statements:?}")
        };
        let AttributeValue::List(columns) = &attributes[1].value else { panic!("{attributes:?}") };
        assert_eq!((attributes[0].name.as_str(), columns.len(), columns[1].len()), ("comparator", 2, 2));
    }

    #[test]
    fn errors_tell_the_place_and_what_is_allowed() {
        for (script, error) in [
            (
                "insert x",
                "line 1, column 1: `insert` is not allowed here: use use, create, update, drop, set, incr, decr, del, \
                 truncate or assume",
            ),
            ("create x", "line 1, column 8: `x` is not allowed here: use `keyspace` or `column family`"),
            ("set U[k] = v", "line 1, column 10: `=` is not allowed here: use the name of a column: [name]"),
            ("use a\nset U[k][n] = v", "line 2, column 1: `set` is not allowed here: use `;`"),
            (
                "set U[k][n] = v with ttl = x",
                "line 1, column 28: `x` is not allowed here: use a number of seconds",
            ),
            (
                "set U[k][n] = v with ttl = 99999999999",
                "line 1, column 28: `99999999999` is not allowed here: use a number of seconds that is smaller",
            ),
            (
                "assume U names as utf8",
                "line 1, column 10: `names` is not allowed here: use `keys`, `comparator`, `sub_comparator` or `validator`",
            ),
            (
                "set U[k][",
                "line 1, column 10: the end of the script is not allowed here: use a key or name, such as 'text', 42 or \
                 utf8('text')",
            ),
            ("create keyspace k with a = {b}", "line 1, column 30: `}` is not allowed here: use `:`"),
        ] {
            assert_eq!(parse(script).unwrap_err().to_string(), error, "{script}");
        }
    }

    #[test]
    fn no_script_makes_the_parser_panic() {
        let parts = [
            "set ",
            "U",
            "[",
            "]",
            "'",
            "(",
            ")",
            "=",
            ";",
            "\\",
            "-",
            "create column family ",
            "{",
            "}",
            ":",
            "1.",
            "é",
        ];
        let mut random = base::util::SplitMix64(7);
        for _ in 0..20_000 {
            let length = random.next_number() % 12;
            let script: String = (0..length)
                .map(|_| parts[usize::try_from(random.next_number() % parts.len() as u64).unwrap()])
                .collect();
            let _ = parse(&script);
        }
    }
}
