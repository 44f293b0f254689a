//! Puts a timestamp into writes that have none, so that several servers store the same.
//!
//! ```text
//!   INSERT INTO t (k) VALUES (1) USING TTL 5      INSERT INTO t (k) VALUES (1) USING TIMESTAMP 7 AND TTL 5
//!   UPDATE t SET v = 1 WHERE k = 1                UPDATE t USING TIMESTAMP 7 SET v = 1 WHERE k = 1
//!   DELETE FROM t WHERE k = 1                     DELETE FROM t USING TIMESTAMP 7 WHERE k = 1
//!   BEGIN BATCH INSERT ..; APPLY BATCH            each statement of the batch, or none: they had one timestamp
//! ```
//!
//! The text is read by its words, so this holds for CQL 2 and 3. Servers refuse a timestamp in conditional statements
//! and for tables with counters: these statements stay as they are. An UPDATE shows that its table has no counters if it
//! sets a value; an INSERT always does; a DELETE never.

use crate::lexer::tokens_of_any;
use crate::table_name::TableName;
use crate::token::{Token, TokenKind};
use crate::{Modify, Parsed, Statement, Term, parse};

/// Returns the text with a timestamp, in microseconds since 1970, in each write that has none and may have one; `None`
/// if there is no such write. `is_plain` is called with the table of each write, and whether the write shows that the
/// table has no counters; it returns whether that is known.
pub fn with_timestamp(
    text: &str,
    timestamp_us: i64,
    mut is_plain: impl FnMut(TableName, bool) -> bool,
) -> Option<String> {
    let words = Words::of(text);
    let (mut out, mut copied) = (String::with_capacity(text.len() + 40), 0);
    let writes = words.writes()?;
    let tables: Vec<_> = writes.iter().map(Write::table).collect::<Option<_>>()?;
    let mut is_known = || tables.iter().map(|(table, shows)| is_plain(table.clone(), *shows)).min();
    // A statement of a batch may show what an earlier one needs.
    is_known();
    if !is_known()? {
        return None;
    }
    for write in writes.into_iter().filter(|write| !write.has_timestamp()) {
        let (at, clause) = write.clause(timestamp_us)?;
        out += text.get(copied..at)?;
        out += &clause;
        copied = at;
    }
    (copied > 0).then(|| out + text.get(copied..).unwrap_or_default())
}

/// Returns the text with other times to live, in seconds, in its writes; `None` if it has none. Those that are bound are not
/// in the text: [`bound_times_to_live`] finds them.
pub fn with_times_to_live(text: &str, other: impl Fn(i32) -> i32) -> Option<String> {
    let words = Words::of(text);
    let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
    for write in words.all_writes()? {
        for pair in write.options().windows(2) {
            let [option, value] = pair else { continue };
            let Some(seconds) = value.raw.parse().ok().filter(|_| option.is("TTL")) else { continue };
            out += text.get(copied..value.token.start)?;
            out += &other(seconds).to_string();
            copied = value.token.end;
        }
    }
    (copied > 0).then(|| out + text.get(copied..).unwrap_or_default())
}

/// A marker of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundMarker {
    /// Its number among the markers of the statement, from 0 on.
    pub number: usize,
    /// The name under which a client may bind it: the column for which `?` stands has no name here, but a time to live has.
    pub name: String,
}

/// Returns the markers of the times to live of the writes in a text. Empty if it cannot be parsed as CQL 3.
pub fn bound_times_to_live(text: &str) -> Vec<BoundMarker> {
    let Ok(Parsed { statement, markers, .. }) = parse(text) else { return Vec::new() };
    let writes = match statement {
        Statement::Modify(write) => vec![Box::new(write)],
        Statement::Batch(batch) => batch.statements,
        _ => Vec::new(),
    };
    let marker = |write: Box<Modify>| match write.ttl.as_deref() {
        Some(Term::Marker(number)) => {
            let name = markers.get(*number)?.clone().unwrap_or_else(|| "[ttl]".to_owned());
            Some(BoundMarker { number: *number, name })
        }
        _ => None,
    };
    writes.into_iter().filter_map(marker).collect()
}

/// The tokens of a text without spaces and comments, with the number of open brackets around each.
#[derive(Clone, Copy)]
struct Word<'t> {
    token: Token,
    raw: &'t str,
    depth: u32,
}

impl Word<'_> {
    /// Returns whether it is this keyword, outside of brackets.
    fn is(&self, keyword: &str) -> bool {
        self.depth == 0 && self.raw.eq_ignore_ascii_case(keyword)
    }

    fn is_verb(&self) -> bool {
        self.token.kind == TokenKind::Word && ["INSERT", "UPDATE", "DELETE"].iter().any(|verb| self.is(verb))
    }
}

struct Words<'t> {
    text: &'t str,
    words: Vec<Word<'t>>,
}

/// A statement that writes.
struct Write<'w, 't> {
    text: &'t str,
    words: &'w [Word<'t>],
}

impl<'t> Words<'t> {
    fn of(text: &'t str) -> Words<'t> {
        let mut depth = 0_u32;
        let visible = tokens_of_any(text).filter(|token| token.kind != TokenKind::Hidden);
        let words = visible.map(|token| {
            let raw = token.raw(text);
            depth = match raw {
                ")" | "]" | "}" => depth.saturating_sub(1),
                _ => depth,
            };
            let word = Word { token, raw, depth };
            depth += u32::from(matches!(raw, "(" | "[" | "{"));
            word
        });
        Words { text, words: words.collect() }
    }

    /// Returns the writes of a statement or batch; `None` if all of them must stay without a timestamp: those of counters, and
    /// those that have one for all.
    fn writes(&self) -> Option<Vec<Write<'_, 't>>> {
        let header = self.words.iter().take_while(|word| !word.is_verb());
        let has_one = header.into_iter().any(|word| word.is("COUNTER") || word.is("TIMESTAMP"));
        if has_one { None } else { self.all_writes() }
    }

    /// Returns the writes of a statement or batch; `None` if all of them must stay as they are.
    fn all_writes(&self) -> Option<Vec<Write<'_, 't>>> {
        let first = self.words.first()?;
        if self.words.last()?.depth > 0 {
            // The error of the server would name a word that the client has not sent.
            return None;
        }
        let body = if first.is("BEGIN") {
            let header = self.words.iter().position(Word::is_verb)?;
            self.words.split_at(header).1
        } else if first.is_verb() {
            &self.words
        } else {
            return None;
        };
        // IF is a reserved word since there are conditions.
        if body.iter().any(|word| word.is("IF")) {
            return None;
        }
        let mut writes = Vec::new();
        let mut rest = body;
        while rest.first().is_some_and(Word::is_verb) {
            let mut next = rest.iter().skip(1);
            let end = next.position(|word| word.is_verb() || word.is(";") || word.is("APPLY"));
            let (words, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
            writes.push(Write { text: self.text, words });
            rest = after.split_at(after.iter().take_while(|word| word.is(";")).count()).1;
        }
        Some(writes)
    }
}

impl Write<'_, '_> {
    fn position(&self, keyword: &str) -> Option<usize> {
        self.words.iter().position(|word| word.is(keyword))
    }

    /// Returns the clause USING. Columns may have the names of its options, too.
    fn options(&self) -> &[Word<'_>] {
        let clause = self.position("USING").and_then(|at| self.words.get(at..)).unwrap_or_default();
        let end = clause.iter().position(|word| word.is("SET") || word.is("WHERE")).unwrap_or(clause.len());
        clause.get(..end).unwrap_or_default()
    }

    fn has_timestamp(&self) -> bool {
        self.options().iter().any(|word| word.is("TIMESTAMP"))
    }

    /// Returns the table, and whether the statement shows that it has no counters.
    fn table(&self) -> Option<(TableName, bool)> {
        let (before, shows_plain) = match self.words.first()? {
            verb if verb.is("INSERT") => (self.position("INTO")?, true),
            verb if verb.is("UPDATE") => (0, self.sets_a_value()?),
            _ => (self.position("FROM")?, false),
        };
        let name = |at: usize| self.words.get(at).map(|word| self.name(word));
        let table = match self.words.get(before + 2) {
            Some(dot) if dot.is(".") => TableName { keyspace: name(before + 1), name: name(before + 3)? },
            _ => TableName { keyspace: None, name: name(before + 1)? },
        };
        Some((table, shows_plain))
    }

    fn name(&self, word: &Word<'_>) -> String {
        match word.token.kind {
            TokenKind::Word => word.raw.to_ascii_lowercase(),
            _ => word.token.value(self.text),
        }
    }

    /// Returns whether an assignment of an UPDATE cannot be one of a counter, which is `n = n + 5` or `n += 5`.
    fn sets_a_value(&self) -> Option<bool> {
        let end = self.position("WHERE")?;
        let assignments = self.words.get(self.position("SET")? + 1..end)?;
        let mut assignments = assignments.split(|word| word.is(","));
        Some(assignments.any(|assignment| match assignment {
            [name, equals, same, ..] if equals.is("=") => {
                let is_of_collection = assignment.iter().any(|word| matches!(word.raw, "[" | "{"));
                assignment.len() == 3 || self.name(name) != self.name(same) || is_of_collection
            }
            // `l[0] = 5`.
            [_, bracket, ..] => bracket.is("["),
            _ => false,
        }))
    }

    /// Returns the clause with a timestamp, and where it goes.
    fn clause(&self, timestamp_us: i64) -> Option<(usize, String)> {
        if let Some(using) = self.position("USING") {
            return Some((self.words.get(using)?.token.end, format!(" TIMESTAMP {timestamp_us} AND")));
        }
        let next = match self.words.first()? {
            verb if verb.is("INSERT") => None,
            verb if verb.is("UPDATE") => Some(self.position("SET")?),
            _ => Some(self.position("WHERE")?),
        };
        match next.and_then(|at| self.words.get(at)) {
            Some(next) => Some((next.token.start, format!("USING TIMESTAMP {timestamp_us} "))),
            None => Some((self.words.last()?.token.end, format!(" USING TIMESTAMP {timestamp_us}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::hard_statements;

    fn stamped(text: &str) -> String {
        with_timestamp(text, 7, |_, shows_plain| shows_plain).unwrap_or_else(|| "as it is".to_owned())
    }

    #[test]
    fn writes_without_a_timestamp_get_one() {
        for (text, expected) in [
            ("INSERT INTO t (k) VALUES (1)", "INSERT INTO t (k) VALUES (1) USING TIMESTAMP 7"),
            (
                "INSERT INTO t (k) VALUES ('if'); -- end",
                "INSERT INTO t (k) VALUES ('if') USING TIMESTAMP 7; -- end",
            ),
            (
                "insert into ks.t (k) values (?) using ttl ?",
                "insert into ks.t (k) values (?) using TIMESTAMP 7 AND ttl ?",
            ),
            (
                "UPDATE t SET v = 1, n = n + 1 WHERE k = 2",
                "UPDATE t USING TIMESTAMP 7 SET v = 1, n = n + 1 WHERE k = 2",
            ),
            (
                "UPDATE t SET l = l + [5] WHERE k = 2",
                "UPDATE t USING TIMESTAMP 7 SET l = l + [5] WHERE k = 2",
            ),
            ("UPDATE t SET l[0] = 5 WHERE k = 2", "UPDATE t USING TIMESTAMP 7 SET l[0] = 5 WHERE k = 2"),
            (
                "UPDATE t USING CONSISTENCY ONE SET v = 1 WHERE k = 2",
                "UPDATE t USING TIMESTAMP 7 AND CONSISTENCY ONE SET v = 1 WHERE k = 2",
            ),
            (
                "UPDATE t SET timestamp = 1 WHERE timestamp = 2",
                "UPDATE t USING TIMESTAMP 7 SET timestamp = 1 WHERE timestamp = 2",
            ),
            (
                "BEGIN UNLOGGED BATCH INSERT INTO t (k) VALUES (1); UPDATE t SET v = 1 WHERE k = 1; APPLY BATCH;",
                "BEGIN UNLOGGED BATCH INSERT INTO t (k) VALUES (1) USING TIMESTAMP 7; UPDATE t USING TIMESTAMP 7 SET \
                 v = 1 WHERE k = 1; APPLY BATCH;",
            ),
            (
                "BEGIN BATCH INSERT INTO t (k) VALUES (1) USING TIMESTAMP 5 INSERT INTO t (k) VALUES (2) APPLY BATCH",
                "BEGIN BATCH INSERT INTO t (k) VALUES (1) USING TIMESTAMP 5 INSERT INTO t (k) VALUES (2) USING \
                 TIMESTAMP 7 APPLY BATCH",
            ),
        ] {
            assert_eq!(stamped(text), expected);
            assert!(parse(text).is_ok() == parse(expected).is_ok(), "{expected}");
        }
        let delete = with_timestamp("DELETE v FROM \"T\" WHERE k = 1", 7, |table, _| table.name == "T");
        assert_eq!(delete.as_deref(), Some("DELETE v FROM \"T\" USING TIMESTAMP 7 WHERE k = 1"));
    }

    #[test]
    fn times_to_live_are_replaced_in_writes() {
        for (text, expected) in [
            (
                "INSERT INTO t (k, ttl) VALUES (5, 5) USING TTL 5",
                "INSERT INTO t (k, ttl) VALUES (5, 5) USING TTL 4",
            ),
            (
                "UPDATE t USING TIMESTAMP 5 AND ttl 5 SET ttl = 5 WHERE k = 5",
                "UPDATE t USING TIMESTAMP 5 AND ttl 4 SET ttl = 5 WHERE k = 5",
            ),
            (
                "BEGIN BATCH UPDATE t USING TTL 5 SET v = 1 WHERE k = 1; UPDATE t USING TTL 9 SET v = 1 WHERE k = 2; APPLY BATCH",
                "BEGIN BATCH UPDATE t USING TTL 4 SET v = 1 WHERE k = 1; UPDATE t USING TTL 8 SET v = 1 WHERE k = 2; APPLY BATCH",
            ),
            (
                "BEGIN BATCH USING TIMESTAMP 5 INSERT INTO t (k) VALUES (1) USING TTL 5; APPLY BATCH",
                "BEGIN BATCH USING TIMESTAMP 5 INSERT INTO t (k) VALUES (1) USING TTL 4; APPLY BATCH",
            ),
        ] {
            assert_eq!(with_times_to_live(text, |ttl| ttl - 1).as_deref(), Some(expected));
        }
        for text in [
            "UPDATE t USING TTL ? SET ttl = 5 WHERE k = 5",
            "UPDATE t SET ttl = 5 WHERE k = 1",
            "SELECT ttl FROM t",
        ] {
            assert_eq!(with_times_to_live(text, |ttl| ttl - 1), None, "{text}");
        }
    }

    #[test]
    fn markers_of_times_to_live_are_found() {
        for (text, expected) in [
            ("INSERT INTO t (k, v) VALUES (?, {1: ?}) USING TTL ?", vec![(2, "[ttl]")]),
            ("UPDATE t USING TIMESTAMP ? AND TTL :left SET v = ? WHERE k = ?", vec![(1, "left")]),
            (
                "BEGIN BATCH USING TIMESTAMP ? UPDATE t USING TTL ? SET v = 1 WHERE k = ?; INSERT INTO t (k) VALUES (?) USING \
                 TTL 5; INSERT INTO t (k) VALUES (?) USING TTL ?; APPLY BATCH",
                vec![(1, "[ttl]"), (5, "[ttl]")],
            ),
            ("UPDATE t SET ttl = ? WHERE k = ?", vec![]),
            ("SELECT ttl FROM t WHERE k = ?", vec![]),
        ] {
            let found = bound_times_to_live(text);
            let found: Vec<_> = found.iter().map(|marker| (marker.number, &marker.name[..])).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_batch_shows_its_tables() {
        let mut plain = Vec::new();
        let text = "BEGIN BATCH DELETE FROM t WHERE k = 1; INSERT INTO t (k) VALUES (1) APPLY BATCH";
        let stamped = with_timestamp(text, 7, |table, shows_plain| {
            plain.extend(shows_plain.then(|| table.name.clone()));
            plain.contains(&table.name)
        });
        let expected = "BEGIN BATCH DELETE FROM t USING TIMESTAMP 7 WHERE k = 1; INSERT INTO t (k) VALUES (1) USING \
             TIMESTAMP 7 APPLY BATCH";
        assert_eq!(stamped.as_deref(), Some(expected));
    }

    #[test]
    fn counters_conditions_and_timestamps_stay() {
        for text in [
            "UPDATE t SET n = n + 1 WHERE k = 2",
            "UPDATE t SET n = n - ?, m = m -1 WHERE k = 2",
            "UPDATE t SET n += 1 WHERE k = 2",
            "UPDATE t SET N = n + 1 WHERE k = 2",
            "UPDATE t SET \"n\" = n + 1 WHERE k = 2",
            "DELETE FROM t WHERE k = 1",
            "INSERT INTO t (k) VALUES (1) IF NOT EXISTS",
            "UPDATE t SET v = 1 WHERE k = 1 IF v = 2",
            "INSERT INTO t (k) VALUES (1) USING TTL 5 AND TIMESTAMP 9",
            "BEGIN COUNTER BATCH UPDATE t SET n = n + 1 WHERE k = 2 APPLY BATCH",
            "BEGIN BATCH INSERT INTO t (k) VALUES (1); DELETE FROM u WHERE k = 1; APPLY BATCH",
            "BEGIN BATCH USING TIMESTAMP 5 INSERT INTO t (k) VALUES (1) APPLY BATCH",
            "BEGIN BATCH INSERT INTO t (k) VALUES (1) INSERT INTO t (k) VALUES (1) IF NOT EXISTS APPLY BATCH",
            "SELECT a FROM t",
            "TRUNCATE t",
            "INSERT INTO t (k) VALUES (1",
            "INSERT",
            "",
        ] {
            assert_eq!(stamped(text), "as it is", "{text}");
        }
    }

    #[test]
    fn any_text_is_read() {
        for text in hard_statements() {
            if let Some(stamped) = with_timestamp(&text, 7, |_, _| true) {
                assert!(
                    stamped.len() > text.len() && (parse(&text).is_err() || parse(&stamped).is_ok()),
                    "{stamped}"
                );
            }
        }
    }
}
