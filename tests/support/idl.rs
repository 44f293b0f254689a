//! Parses the Thrift interface files in `idl/`.

use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

pub type TestResult<T = ()> = Result<T, Box<dyn Error>>;

pub fn idl_file(line: &str) -> PathBuf {
    repository(&format!("idl/cassandra-{line}.thrift"))
}

pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Parses the part of the Thrift interface language that the files in `idl/` use.
pub struct Parser {
    /// The tokens that are not parsed yet, the next token last.
    tokens: Vec<String>,
    version: Value,
    enums: Map<String, Value>,
    structs: Map<String, Value>,
    exceptions: Map<String, Value>,
    methods: Map<String, Value>,
}

impl Parser {
    pub fn new(text: &str) -> TestResult<Self> {
        let mut tokens = tokenize(text)?;
        tokens.reverse();
        Ok(Self {
            tokens,
            version: Value::Null,
            enums: Map::new(),
            structs: Map::new(),
            exceptions: Map::new(),
            methods: Map::new(),
        })
    }

    pub fn document(mut self) -> TestResult<Value> {
        while let Some(keyword) = self.tokens.pop() {
            match keyword.as_str() {
                "namespace" => {
                    self.next()?;
                    self.next()?;
                }
                "const" => self.constant()?,
                "enum" => self.enumeration()?,
                "struct" => {
                    let (name, fields) = (self.next()?, self.fields("{", "}")?);
                    self.structs.insert(name, fields);
                }
                "exception" => {
                    let (name, fields) = (self.next()?, self.fields("{", "}")?);
                    self.exceptions.insert(name, fields);
                }
                "service" => self.service()?,
                other => return Err(format!("expected a definition, found {other}").into()),
            }
        }
        Ok(json!({
            "version": self.version,
            "enums": self.enums,
            "structs": self.structs,
            "exceptions": self.exceptions,
            "methods": self.methods,
        }))
    }

    /// Parses a constant. The only one is `const string VERSION = "..."`.
    fn constant(&mut self) -> TestResult {
        for word in ["string", "VERSION", "="] {
            self.expect(word)?;
        }
        self.version = self.value()?;
        Ok(())
    }

    fn enumeration(&mut self) -> TestResult {
        let name = self.next()?;
        let mut members = Map::new();
        self.expect("{")?;
        while !self.accept("}") {
            let member = self.next()?;
            self.expect("=")?;
            members.insert(member, self.value()?);
            self.accept(",");
        }
        self.enums.insert(name, members.into());
        Ok(())
    }

    fn service(&mut self) -> TestResult {
        self.expect("Cassandra")?;
        self.expect("{")?;
        while !self.accept("}") {
            let returns = self.type_name()?;
            let name = self.next()?;
            let args = self.fields("(", ")")?;
            let throws = if self.accept("throws") { self.fields("(", ")")? } else { json!([]) };
            self.accept(",");
            let throws: Vec<_> = throws.as_array().into_iter().flatten().map(without_requiredness).collect();
            self.methods.insert(name, json!({ "returns": returns, "args": args, "throws": throws }));
        }
        Ok(())
    }

    /// Parses fields, `1: required type name = default, ...`, between two brackets.
    fn fields(&mut self, open: &str, close: &str) -> TestResult<Value> {
        let mut fields = Vec::new();
        self.expect(open)?;
        while !self.accept(close) {
            let id: i16 = self.token_with_sign()?.parse()?;
            self.expect(":")?;
            let required =
                ["required", "optional"].into_iter().find(|word| self.accept(word)).unwrap_or("default");
            let type_name = self.type_name()?;
            let name = self.next()?;
            let mut field = json!({ "id": id, "name": name, "type": type_name, "required": required });
            if self.accept("=") {
                field["default"] = self.value()?;
            }
            fields.push(field);
            self.accept(",");
        }
        Ok(fields.into())
    }

    /// Parses a type and returns it without spaces: `map<string,list<Mutation>>`.
    fn type_name(&mut self) -> TestResult<String> {
        let mut name = self.next()?;
        if self.accept("<") {
            name += "<";
            name += &self.type_name()?;
            while self.accept(",") {
                name += ",";
                name += &self.type_name()?;
            }
            self.expect(">")?;
            name += ">";
        }
        Ok(name)
    }

    /// Parses a number, a boolean, a quoted string, or a member of an enum, which becomes its number.
    fn value(&mut self) -> TestResult<Value> {
        let token = self.token_with_sign()?;
        if token.starts_with(|c: char| c.is_alphabetic())
            && let Some((name, member)) = token.split_once('.')
        {
            let number = self.enums.get(name).and_then(|members| members.get(member));
            return number.cloned().ok_or_else(|| format!("no such enum member: {token}").into());
        }
        Ok(serde_json::from_str(&token)?)
    }

    /// Returns the next token; a minus sign and the number after it are two tokens, and are joined.
    fn token_with_sign(&mut self) -> TestResult<String> {
        let sign = if self.accept("-") { "-" } else { "" };
        Ok(sign.to_owned() + &self.next()?)
    }

    fn next(&mut self) -> TestResult<String> {
        self.tokens.pop().ok_or_else(|| "the file ends too early".into())
    }

    fn expect(&mut self, wanted: &str) -> TestResult {
        let found = self.next()?;
        if found == wanted { Ok(()) } else { Err(format!("expected {wanted}, found {found}").into()) }
    }

    fn accept(&mut self, wanted: &str) -> bool {
        let found = self.tokens.last().is_some_and(|token| token == wanted);
        if found {
            self.tokens.pop();
        }
        found
    }
}

/// Removes the `required` entry: exceptions in a throws clause are neither required nor optional.
fn without_requiredness(field: &Value) -> Value {
    let mut field = field.clone();
    if let Some(object) = field.as_object_mut() {
        object.remove("required");
    }
    field
}

/// Splits text into words (with dots), quoted strings and punctuation marks, and drops comments and white space.
fn tokenize(text: &str) -> TestResult<Vec<String>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").ok_or("a comment does not end")? + 2
        } else if first == '"' {
            rest[1..].find('"').ok_or("a string does not end")? + 2
        } else {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len()).max(1)
        };
        let (token, after) = rest.split_at(length);
        if !token.starts_with('/') {
            tokens.push(token.to_owned());
        }
        rest = after.trim_start();
    }
    Ok(tokens)
}
