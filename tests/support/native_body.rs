//! Encodes and decodes bodies of native frames, independently of the code in `crates/server/src/native`.

use std::collections::BTreeMap;

/// A body under construction.
#[derive(Debug, Clone, Default)]
pub struct Body(pub Vec<u8>);

/// A value for a bind marker.
#[derive(Debug, Clone)]
pub enum Bound {
    Value(Vec<u8>),
    Null,
    Unset,
}

pub fn int(number: i32) -> Bound {
    Bound::Value(number.to_be_bytes().to_vec())
}

pub fn text(text: &str) -> Bound {
    Bound::Value(text.as_bytes().to_vec())
}

impl Body {
    pub fn new() -> Body {
        Body::default()
    }

    pub fn raw(mut self, bytes: &[u8]) -> Body {
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn u8(self, number: u8) -> Body {
        self.raw(&[number])
    }

    pub fn u16(self, number: usize) -> Body {
        self.raw(&u16::try_from(number).unwrap().to_be_bytes())
    }

    pub fn i32(self, number: i32) -> Body {
        self.raw(&number.to_be_bytes())
    }

    pub fn i64(self, number: i64) -> Body {
        self.raw(&number.to_be_bytes())
    }

    pub fn string(self, text: &str) -> Body {
        self.short_bytes(text.as_bytes())
    }

    pub fn short_bytes(self, bytes: &[u8]) -> Body {
        self.u16(bytes.len()).raw(bytes)
    }

    pub fn bytes(self, bytes: &[u8]) -> Body {
        self.i32(bytes.len().try_into().unwrap()).raw(bytes)
    }

    pub fn long_string(self, text: &str) -> Body {
        self.bytes(text.as_bytes())
    }

    pub fn strings(self, texts: &[&str]) -> Body {
        texts.iter().fold(self.u16(texts.len()), |body, text| body.string(text))
    }

    pub fn string_map(self, pairs: &[(&str, &str)]) -> Body {
        pairs.iter().fold(self.u16(pairs.len()), |body, (name, value)| body.string(name).string(value))
    }

    pub fn value(self, value: &Bound) -> Body {
        match value {
            Bound::Value(bytes) => self.bytes(bytes),
            Bound::Null => self.i32(-1),
            Bound::Unset => self.i32(-2),
        }
    }

    pub fn values(self, values: &[Bound]) -> Body {
        values.iter().fold(self.u16(values.len()), |body, value| body.value(value))
    }

    /// Appends the parameters of a QUERY or EXECUTE (version 2 or later).
    pub fn parameters(self, version: u8, asked: &Asked) -> Body {
        let flags = [
            (1, !asked.values.is_empty()),
            (2, asked.skips_metadata),
            (4, asked.page_size.is_some()),
            (8, asked.paging_state.is_some()),
            (0x10, asked.serial.is_some()),
            (0x20, asked.timestamp.is_some()),
            (0x40, !asked.names.is_empty()),
            (0x80, asked.keyspace.is_some()),
            (0x100, asked.now.is_some()),
        ];
        let flags: i32 = flags.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag).sum();
        let mut body = self.u16(asked.consistency).flags(version, flags);
        if !asked.values.is_empty() {
            body = body.u16(asked.values.len());
            for (at, value) in asked.values.iter().enumerate() {
                body = match asked.names.get(at) {
                    Some(name) => body.string(name).value(value),
                    None => body.value(value),
                };
            }
        }
        if let Some(size) = asked.page_size {
            body = body.i32(size);
        }
        if let Some(state) = &asked.paging_state {
            body = body.bytes(state);
        }
        body.rest(asked)
    }

    pub fn flags(self, version: u8, flags: i32) -> Body {
        if version < 5 { self.u8(flags.try_into().unwrap()) } else { self.i32(flags) }
    }

    /// Appends the parameters that QUERY, EXECUTE and BATCH have in common: serial consistency level, timestamp,
    /// keyspace and time.
    pub fn rest(mut self, asked: &Asked) -> Body {
        if let Some(level) = asked.serial {
            self = self.u16(level);
        }
        if let Some(timestamp) = asked.timestamp {
            self = self.i64(timestamp);
        }
        if let Some(keyspace) = asked.keyspace {
            self = self.string(keyspace);
        }
        match asked.now {
            Some(now) => self.i32(now),
            None => self,
        }
    }
}

/// The query parameters that are sent with a statement.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub consistency: usize,
    pub values: Vec<Bound>,
    pub names: Vec<&'static str>,
    pub skips_metadata: bool,
    pub page_size: Option<i32>,
    pub paging_state: Option<Vec<u8>>,
    pub serial: Option<usize>,
    pub timestamp: Option<i64>,
    pub keyspace: Option<&'static str>,
    pub now: Option<i32>,
}

impl Asked {
    /// Returns parameters with consistency level ONE and these values.
    pub fn values(values: impl Into<Vec<Bound>>) -> Asked {
        Asked { consistency: 1, values: values.into(), ..Asked::default() }
    }
}

/// The part of a body that is not decoded yet.
#[derive(Debug, Clone)]
pub struct Parts<'a>(pub &'a [u8]);

impl<'a> Parts<'a> {
    pub fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    pub fn u8(&mut self) -> u8 {
        self.take(1)[0]
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_be_bytes(self.take(2).try_into().unwrap())
    }

    pub fn i32(&mut self) -> i32 {
        i32::from_be_bytes(self.take(4).try_into().unwrap())
    }

    pub fn short_bytes(&mut self) -> &'a [u8] {
        let length = self.u16();
        self.take(length.into())
    }

    pub fn string(&mut self) -> String {
        String::from_utf8(self.short_bytes().to_vec()).unwrap()
    }

    pub fn strings(&mut self) -> Vec<String> {
        (0..self.u16()).map(|_| self.string()).collect()
    }

    pub fn multimap(&mut self) -> BTreeMap<String, Vec<String>> {
        (0..self.u16()).map(|_| (self.string(), self.strings())).collect()
    }

    pub fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.i32()).ok()?;
        Some(self.take(length).to_vec())
    }

    /// Checks that nothing is left.
    pub fn end(self) {
        assert!(self.0.is_empty(), "left over: {:?}", self.0);
    }

    /// Decodes a type and returns it as text: its number in hexadecimal, `list<9>` and the like, or the name of a
    /// class.
    fn column_type(&mut self) -> String {
        match self.u16() {
            0 => self.string(),
            0x20 => format!("list<{}>", self.column_type()),
            0x21 => format!("map<{}, {}>", self.column_type(), self.column_type()),
            0x22 => format!("set<{}>", self.column_type()),
            0x30 => {
                let name = format!("{}.{}", self.string(), self.string());
                let count = self.u16();
                let fields = (0..count).map(|_| format!(" {} {}", self.string(), self.column_type()));
                format!("{name}{}", fields.collect::<String>())
            }
            0x31 => {
                let count = self.u16();
                let fields = (0..count).map(|_| format!(" {}", self.column_type()));
                format!("tuple{}", fields.collect::<String>())
            }
            number => format!("{number:x}"),
        }
    }

    fn columns(&mut self, flags: i32, count: i32) -> Vec<Column> {
        let of_all = (flags & 1 != 0).then(|| format!("{}.{}", self.string(), self.string()));
        let column = |_| {
            let table = of_all.clone().unwrap_or_else(|| format!("{}.{}", self.string(), self.string()));
            Column { table, name: self.string(), column_type: self.column_type() }
        };
        (0..count).map(column).collect()
    }

    /// Decodes the metadata of a result.
    pub fn metadata(&mut self) -> Metadata {
        let (flags, count) = (self.i32(), self.i32());
        let paging_state = if flags & 2 != 0 { self.bytes() } else { None };
        let new_id = (flags & 8 != 0).then(|| self.short_bytes().to_vec());
        let columns = if flags & 4 != 0 { Vec::new() } else { self.columns(flags, count) };
        Metadata { flags, count: count.try_into().unwrap(), paging_state, new_id, columns }
    }

    /// Decodes a RESULT of kind Rows.
    pub fn rows(mut self) -> Rows {
        assert_eq!(self.i32(), 2, "not rows");
        let metadata = self.metadata();
        let count = self.i32();
        let rows = (0..count).map(|_| (0..metadata.count).map(|_| self.bytes()).collect()).collect();
        self.end();
        Rows { metadata, rows }
    }

    /// Decodes a RESULT of kind Prepared.
    pub fn prepared(mut self, version: u8) -> PreparedAnswer {
        assert_eq!(self.i32(), 4, "not a prepared statement");
        let id = self.short_bytes().to_vec();
        let result_id = if version >= 5 { self.short_bytes().to_vec() } else { Vec::new() };
        let (flags, count) = (self.i32(), self.i32());
        let key_places =
            if version >= 4 { (0..self.i32()).map(|_| self.u16()).collect() } else { Vec::new() };
        let markers = self.columns(flags, count);
        let result = (version >= 2).then(|| self.metadata());
        self.end();
        PreparedAnswer { id, result_id, key_places, markers, result }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub table: String,
    pub name: String,
    pub column_type: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    pub flags: i32,
    pub count: usize,
    pub paging_state: Option<Vec<u8>>,
    pub new_id: Option<Vec<u8>>,
    pub columns: Vec<Column>,
}

impl Metadata {
    pub fn types(&self) -> Vec<&str> {
        self.columns.iter().map(|column| &*column.column_type).collect()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    pub metadata: Metadata,
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
}

impl Rows {
    /// Returns the int values of the first column.
    pub fn ints(&self) -> Vec<i32> {
        let first = |row: &Vec<Option<Vec<u8>>>| row[0].clone().unwrap();
        self.rows.iter().map(|row| i32::from_be_bytes(first(row).try_into().unwrap())).collect()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct PreparedAnswer {
    pub id: Vec<u8>,
    pub result_id: Vec<u8>,
    pub key_places: Vec<u16>,
    pub markers: Vec<Column>,
    pub result: Option<Metadata>,
}
