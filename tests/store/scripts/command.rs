//! Parses the commands of a script. Names stay text, because only the schema defines their types.

use base::schema::CfDef;
use base::util::Release;
use bytes::Bytes;

use super::support;

/// The words of a command line, read from left to right.
struct Words<'a>(std::iter::Peekable<std::str::SplitWhitespace<'a>>);

impl<'a> Words<'a> {
    fn of(line: &'a str) -> Words<'a> {
        Words(line.split_whitespace().peekable())
    }

    fn next(&mut self) -> &'a str {
        self.0.next().unwrap_or_else(|| panic!("a word is missing"))
    }

    fn number<T: std::str::FromStr>(&mut self) -> T {
        let word = self.next();
        word.parse().unwrap_or_else(|_| panic!("{word} is not a number"))
    }

    fn take_if(&mut self, word: &str) -> bool {
        self.0.next_if_eq(&word).is_some()
    }

    /// Removes and parses the last word, `@N`.
    fn last_timestamp(rest: &mut Vec<&str>) -> i64 {
        let word = rest.pop().unwrap();
        word.strip_prefix('@').and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{word}: @N?"))
    }
}

/// A write: column family, row key and changes.
pub type Write = (String, Bytes, Vec<Written>);

/// One command of a script.
pub enum Command {
    Partitioner(String),
    Define(Box<CfDef>),
    Release(Release),
    Write(Vec<Write>),
    Get { cf: String, key: Bytes, read: Read },
    Scan { cf: String, bounds: Vec<String>, rows: usize, skip_empty: bool, read: Read },
    Splits { start: String, end: String, keys: usize },
    Truncate(String),
    Drop(String),
    Undefined,
    Record { name: String, value: Option<Bytes> },
    Records,
    Restart,
    Compact,
    Sweep,
    Clock(i64),
}

/// A change with names as text.
pub enum Written {
    Put { path: String, value: String, ttl_s: Option<i32>, timestamp: i64 },
    Add { path: String, delta: i64, timestamp: i64 },
    Delete { path: String, timestamp: i64 },
    DeleteRange { read: Read, timestamp: i64 },
}

/// A slice or a list of names of a row, as text.
#[derive(Default)]
pub struct Read {
    pub within: Option<String>,
    pub names: Option<Vec<String>>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub reversed: bool,
    pub count: Option<usize>,
    pub with_tombstones: bool,
}

fn parse_read(words: &mut Words<'_>) -> Read {
    let mut read = Read::default();
    while let Some(word) = words.0.next() {
        match word {
            "in" => read.within = Some(words.next().to_owned()),
            "names" => read.names = Some(words.0.by_ref().map(str::to_owned).collect()),
            "from" => read.from = Some(words.next().to_owned()),
            "to" => read.to = Some(words.next().to_owned()),
            "reversed" => read.reversed = true,
            "count" => read.count = Some(words.number()),
            "tombstones" => read.with_tombstones = true,
            other => panic!("{other} is not a word of a slice"),
        }
    }
    read
}

fn parse_write(verb: &str, words: &mut Words<'_>) -> (String, Bytes, Written) {
    let (cf, key) = (words.next().to_owned(), bytes_of(words.next()));
    let mut rest: Vec<&str> = words.0.by_ref().collect();
    let ttl_s = match &rest[..] {
        [.., "ttl", seconds] => Some(seconds.parse().unwrap()),
        _ => None,
    };
    rest.truncate(rest.len() - if ttl_s.is_some() { 2 } else { 0 });
    let timestamp = Words::last_timestamp(&mut rest);
    let written = match verb {
        "put" => {
            let value = rest.pop().unwrap().to_owned();
            Written::Put { path: rest.join(" "), value, ttl_s, timestamp }
        }
        "add" => {
            let delta = rest.pop().unwrap().parse().unwrap();
            Written::Add { path: rest.join(" "), delta, timestamp }
        }
        "delete" => Written::Delete { path: rest.join(" "), timestamp },
        "delete-range" => {
            let read = parse_read(&mut Words::of(&rest.join(" ")));
            Written::DeleteRange { read, timestamp }
        }
        other => panic!("{other} is not a write"),
    };
    (cf, key, written)
}

fn parse_define(is_super: bool, words: &mut Words<'_>) -> CfDef {
    let (name, comparator) = (words.next(), words.next());
    let subcomparator = is_super.then(|| words.next());
    let mut cf = support::family(name, comparator, subcomparator);
    if words.take_if("grace") {
        cf.gc_grace_s = words.number();
    }
    cf
}

pub fn parse(line: &str, rest: &mut std::str::Lines<'_>) -> Command {
    let mut words = Words::of(line);
    match words.next() {
        "partitioner" => Command::Partitioner(words.next().to_owned()),
        verb @ ("standard" | "super") => Command::Define(Box::new(parse_define(verb == "super", &mut words))),
        "release" => Command::Release(words.next().parse().unwrap()),
        verb @ ("put" | "add" | "delete" | "delete-range") => {
            let (cf, key, written) = parse_write(verb, &mut words);
            Command::Write(vec![(cf, key, vec![written])])
        }
        "batch" => Command::Write(parse_batch(rest)),
        "get" | "slice" => {
            let (cf, key) = (words.next().to_owned(), bytes_of(words.next()));
            Command::Get { cf, key, read: parse_read(&mut words) }
        }
        "scan" => {
            let cf = words.next().to_owned();
            let bounds = match words.0.next_if(|word| matches!(*word, "keys" | "tokens")) {
                Some(kind) => [kind, words.next(), words.next()].map(str::to_owned).to_vec(),
                None => ["keys", "-", "-"].map(str::to_owned).to_vec(),
            };
            let rows = if words.take_if("rows") { words.number() } else { usize::MAX };
            let skip_empty = words.take_if("skip-empty");
            Command::Scan { cf, bounds, rows, skip_empty, read: parse_read(&mut words) }
        }
        "splits" => Command::Splits {
            start: words.next().to_owned(),
            end: words.next().to_owned(),
            keys: words.number(),
        },
        "truncate" => Command::Truncate(words.next().to_owned()),
        "drop" => Command::Drop(words.next().to_owned()),
        "undefined" => Command::Undefined,
        "record" => {
            let name = words.next().to_owned();
            Command::Record { name, value: words.0.next().map(bytes_of) }
        }
        "records" => Command::Records,
        "restart" => Command::Restart,
        "compact" => Command::Compact,
        "sweep" => Command::Sweep,
        "clock" => Command::Clock(words.number()),
        other => panic!("unknown command {other}"),
    }
}

fn parse_batch(rest: &mut std::str::Lines<'_>) -> Vec<Write> {
    let mut families: Vec<Write> = Vec::new();
    for line in rest.take_while(|line| line.trim() != "end") {
        let mut words = Words::of(line);
        let verb = words.next();
        let (cf, key, written) = parse_write(verb, &mut words);
        match families.iter_mut().find(|(other, row, _)| *other == cf && *row == key) {
            Some((_, _, all)) => all.push(written),
            None => families.push((cf, key, vec![written])),
        }
    }
    families
}

/// Returns the bytes of a word: hexadecimal after `0x`, else its text; `-` is empty.
pub fn bytes_of(word: &str) -> Bytes {
    match (word, word.strip_prefix("0x")) {
        ("-", _) => Bytes::new(),
        (_, Some(hex)) => {
            let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            (0..hex.len()).step_by(2).map(digits).collect()
        }
        _ => Bytes::copy_from_slice(word.as_bytes()),
    }
}
