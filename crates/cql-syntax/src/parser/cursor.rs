//! The position in the list of tokens, and the basic parsing steps of all statements.

use std::cell::Cell;
use std::ops::Range;

use crate::error::invalid;
use crate::failure::UnexpectedToken;
use crate::keyword_name::token_name;
use crate::limits::{MARKERS_MAX, STATEMENT_ITEM_BYTES, STATEMENT_ITEMS_MAX, STATEMENT_NESTING_MAX};
use crate::token::{Token, TokenKind, Tokens};
use crate::{Place, Result, SyntaxError, Term, failure, lexer};
use base::compat::Behaviour;
use base::compat::features::{Language, LaterFeature, Syntax, syntax};
use base::schema::is_reserved;
use base::util::limits::REQUEST_BYTES_FREE;
use base::util::{Release, meter};

/// The state of parsing one text: its tokens, the position among them, and everything that is collected on the way. The
/// methods that look ahead count visible tokens: 0 is the next one.
pub struct Parser<'t> {
    pub(crate) text: &'t str,
    tokens: Tokens,
    /// The index of the next token, which is never a hidden one.
    at: usize,
    /// A byte of the text and its place: places are mostly asked for in the order of the text.
    known_place: Cell<KnownPlace>,
    depth: usize,
    /// Terms, types, selectors and relations that have been parsed.
    items: usize,
    /// Memory that is not charged to the request yet, in bytes.
    uncharged: usize,
    pub(crate) release: Release,
    pub(crate) language: Language,
    pub(crate) markers: Vec<Option<String>>,
    /// See `Parsed`; also for `functions`.
    pub(super) unqualified: Vec<usize>,
    pub(super) functions: Vec<Range<usize>>,
    /// An error after which parsing continued. The old servers report the last error of a text.
    fault: Option<SyntaxError>,
    /// The syntax error of releases without materialized views, in a statement about one.
    pub(crate) before_views: Option<(String, Place)>,
    /// In a statement with a feature that came after 2.1, the syntax error of releases without it.
    pub(crate) before_feature: Option<(LaterFeature, String, Place)>,
}

/// The offset of a byte of the text, and its place.
#[derive(Debug, Clone, Copy)]
struct KnownPlace {
    offset: usize,
    place: Place,
}

impl<'t> Parser<'t> {
    /// Creates a parser at the first token of a text, for the newest language. Errors have the messages of `release`.
    ///
    /// # Errors
    ///
    /// If the text is not CQL, is too long, or has too many tokens for the limit or for the memory of the request.
    pub fn new(text: &'t str, release: Release) -> Result<Parser<'t>> {
        let tokens = lexer::tokens(text)?;
        Ok(Parser {
            text,
            at: tokens.visible(0, 0),
            tokens,
            known_place: Cell::new(KnownPlace { offset: 0, place: Place::START }),
            depth: 0,
            items: 0,
            uncharged: 0,
            release,
            language: Language::default(),
            markers: Vec::new(),
            unqualified: Vec::new(),
            functions: Vec::new(),
            fault: None,
            before_views: None,
            before_feature: None,
        })
    }

    /// Returns the index of the visible token `ahead` positions from here.
    pub(super) fn index(&self, ahead: usize) -> usize {
        self.tokens.visible(self.at, ahead)
    }

    /// Returns the token at `ahead`, or `End` behind the last one.
    pub(crate) fn peek(&self, ahead: usize) -> Token {
        let end = Token { kind: TokenKind::End, start: 0, end: 0 };
        self.tokens.get(self.index(ahead)).unwrap_or(end)
    }

    /// Returns the place of the next token.
    fn place(&self) -> Place {
        let start = self.peek(0).start;
        let known = self.known_place.get();
        let from = if known.offset <= start { known } else { KnownPlace { offset: 0, place: Place::START } };
        let place = from.place.behind(self.text.get(from.offset..start).unwrap_or_default());
        self.known_place.set(KnownPlace { offset: start, place });
        place
    }

    pub(crate) fn kind(&self, ahead: usize) -> TokenKind {
        self.peek(ahead).kind
    }

    pub(crate) fn raw(&self, ahead: usize) -> &'t str {
        self.peek(ahead).raw(self.text)
    }

    pub(crate) fn advance(&mut self) {
        self.at = self.index(1);
    }

    pub(crate) fn is_symbol(&self, ahead: usize, symbol: &str) -> bool {
        self.kind(ahead) == TokenKind::Symbol && self.raw(ahead) == symbol
    }

    /// Checks whether the token is this keyword.
    pub fn is_word(&self, ahead: usize, keyword: &str) -> bool {
        let is_same = |keyword: &str| self.raw(ahead).eq_ignore_ascii_case(keyword);
        self.kind(ahead) == TokenKind::Word
            && match keyword {
                "TABLE" => is_same("TABLE") || is_same("COLUMNFAMILY"),
                "KEYSPACE" => is_same("KEYSPACE") || is_same("SCHEMA"),
                _ => is_same(keyword),
            }
    }

    pub(crate) fn are_words(&self, keywords: &[&str]) -> bool {
        keywords.iter().enumerate().all(|(ahead, keyword)| self.is_word(ahead, keyword))
    }

    /// Checks whether the token can be a name.
    pub(crate) fn is_name(&self, ahead: usize) -> bool {
        match self.kind(ahead) {
            TokenKind::QuotedName => true,
            TokenKind::Word => !is_reserved(self.raw(ahead)),
            _ => false,
        }
    }

    pub(crate) fn eat_symbol(&mut self, symbol: &str) -> bool {
        let is_there = self.is_symbol(0, symbol);
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(crate) fn eat_word(&mut self, keyword: &str) -> bool {
        self.eat_words(&[keyword])
    }

    /// Consumes all of these keywords, or none.
    pub fn eat_words(&mut self, keywords: &[&str]) -> bool {
        let are_there = self.are_words(keywords);
        if are_there {
            keywords.iter().for_each(|_| self.advance());
        }
        are_there
    }

    pub(crate) fn expect_symbol(&mut self, symbol: &str) -> Result<()> {
        if self.eat_symbol(symbol) {
            return Ok(());
        }
        Err(self.mismatched(&format!("'{symbol}'"), self.is_symbol(1, symbol)))
    }

    pub(crate) fn expect_word(&mut self, keyword: &str) -> Result<()> {
        if self.eat_word(keyword) {
            return Ok(());
        }
        Err(self.mismatched(&token_name(keyword), self.is_word(1, keyword)))
    }

    pub(crate) fn expect_words(&mut self, keywords: &[&str]) -> Result<()> {
        keywords.iter().try_for_each(|keyword| self.expect_word(keyword))
    }

    /// Consumes a token of this kind and returns its value.
    pub(crate) fn expect_kind(&mut self, kind: TokenKind, name: &str) -> Result<String> {
        if self.kind(0) == kind {
            return Ok(self.take_value());
        }
        Err(self.mismatched(name, self.kind(1) == kind))
    }

    pub(crate) fn expect_string(&mut self) -> Result<String> {
        self.expect_kind(TokenKind::String, "STRING_LITERAL")
    }

    pub(crate) fn take_value(&mut self) -> String {
        let value = self.peek(0).value(self.text);
        self.advance();
        value
    }

    /// Parses a name, which is lowercased unless it is quoted.
    pub fn name(&mut self) -> Result<String> {
        if !self.is_name(0) {
            return Err(self.no_viable(0));
        }
        let is_quoted = self.kind(0) == TokenKind::QuotedName;
        let name = self.take_value();
        Ok(if is_quoted { name } else { name.to_lowercase() })
    }

    /// Parses one or more items separated by commas.
    pub(crate) fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut list = vec![one(self)?];
        while self.eat_symbol(",") {
            list.push(one(self)?);
        }
        if list.len() < 4 {
            // A batch has a hundred thousand short lists, which would have room for four items.
            list.shrink_to_fit();
        }
        Ok(list)
    }

    /// Parses a list in parentheses.
    pub(crate) fn list_in_parentheses<T>(
        &mut self,
        one: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.expect_symbol("(")?;
        let list = self.list(one)?;
        self.expect_symbol(")")?;
        Ok(list)
    }

    /// Parses `?` or `:name`, or returns `None`.
    pub(crate) fn marker(&mut self) -> Result<Option<usize>> {
        let name = if self.eat_symbol("?") {
            None
        } else if self.is_symbol(0, ":") && self.is_name(1) {
            self.advance();
            let name = self.name()?;
            self.needs(syntax::NAMED_MARKER);
            Some(name)
        } else {
            return Ok(None);
        };
        if self.markers.len() >= MARKERS_MAX {
            return invalid(format!("A statement can have {MARKERS_MAX} markers at most"));
        }
        self.markers.push(name);
        Ok(Some(self.markers.len() - 1))
    }

    pub(crate) fn marker_term(&mut self) -> Result<Option<Term>> {
        Ok(self.marker()?.map(Term::Marker))
    }

    /// Charges the memory of items of the statement to the request: of their syntax trees and plans.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<()> {
        self.uncharged += bytes;
        if self.uncharged >= REQUEST_BYTES_FREE {
            meter::charge(std::mem::take(&mut self.uncharged))?;
        }
        Ok(())
    }

    /// Parses an item that may contain items of the same kind, and limits the nesting depth and the number of items.
    pub(crate) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= STATEMENT_NESTING_MAX {
            let place = self.place();
            let message = format!("line {}:{} the statement is nested too deeply", place.line, place.column);
            return Err(SyntaxError::Syntax { message, place });
        }
        self.items += 1;
        if self.items > STATEMENT_ITEMS_MAX {
            return invalid(format!(
                "A statement can have {STATEMENT_ITEMS_MAX} terms at most: use several statements"
            ));
        }
        self.charge(STATEMENT_ITEM_BYTES)?;
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Returns the error that no alternative begins with this token.
    pub(crate) fn no_viable(&self, ahead: usize) -> SyntaxError {
        self.no_viable_from(self.at, ahead)
    }

    /// Returns the same error for a choice that began earlier. `start` is a result of `position`.
    pub(crate) fn no_viable_from(&self, start: usize, ahead: usize) -> SyntaxError {
        let reported = self.index(ahead);
        let message = format!("no viable alternative at input '{}'", self.shown(ahead));
        self.failure(UnexpectedToken { reported, index: start, seen: reported.max(start) }, &message)
    }

    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Returns the error that another token was expected. `is_next`: that token comes next, so this one is extraneous.
    pub(crate) fn mismatched(&self, expected: &str, is_next: bool) -> SyntaxError {
        let what = if is_next { "extraneous" } else { "mismatched" };
        let message = format!("{what} input '{}' expecting {expected}", self.shown(0));
        self.failure(self.misfit_here(), &message)
    }

    /// Ends the statement: only semicolons may follow. Returns the error after which parsing continued, if there was one.
    pub(crate) fn end(&mut self) -> Result<()> {
        while self.eat_symbol(";") {}
        match (self.kind(0), self.kind(1)) {
            (TokenKind::End, _) => self.fault.take().map_or(Ok(()), Err),
            (_, TokenKind::End) => Err(self.mismatched("EOF", true)),
            _ => Err(self.failure(self.misfit_here(), &format!("missing EOF at '{}'", self.shown(0)))),
        }
    }

    /// Returns the error that one or more items were expected.
    pub(crate) fn early_exit(&self) -> SyntaxError {
        let message = format!("required (...)+ loop did not match anything at input '{}'", self.shown(0));
        self.failure(self.misfit_here(), &message)
    }

    fn misfit_here(&self) -> UnexpectedToken {
        UnexpectedToken { reported: self.index(0), index: self.index(0), seen: self.index(1) }
    }

    fn shown(&self, ahead: usize) -> String {
        match self.kind(ahead) {
            TokenKind::End => "<EOF>".to_owned(),
            _ => self
                .peek(ahead)
                .value(self.text)
                .replace('\n', "\\n")
                .replace('\r', "\\r")
                .replace('\t', "\\t"),
        }
    }

    fn failure(&self, misfit: UnexpectedToken, message: &str) -> SyntaxError {
        failure::at_token(
            self.text,
            &self.tokens,
            &misfit,
            message,
            Behaviour::of(self.release).cql.syntax_errors_show_words,
        )
    }

    /// Records an error after which parsing continues. The message names no position.
    pub(crate) fn complain(&mut self, message: String) {
        self.put_off(SyntaxError::Syntax { message, place: self.place() });
    }

    /// Records that the syntax just before this position was added in a release. Older languages refuse it.
    pub(crate) fn needs(&mut self, syntax: Syntax) {
        if !self.language.has(syntax.since) {
            let place @ Place { line, column } = self.place();
            let Syntax { name, since } = syntax;
            let message = format!(
                "line {line}:{column} {name} came with Cassandra {since}, and --compat names an older one"
            );
            self.put_off(SyntaxError::Syntax { message, place });
        }
    }

    /// Records the syntax error of releases without a feature. The first one of a text counts.
    pub(super) fn came_with(&mut self, feature: LaterFeature, error: SyntaxError) {
        if let (None, SyntaxError::Syntax { message, place }) = (&self.before_feature, error) {
            self.before_feature = Some((feature, message, place));
        }
    }

    /// Checks that a comment at the end of the text ends with a newline, as the old servers require.
    pub(super) fn check_comment(&self) -> Result<()> {
        let before_end = self.tokens.count().checked_sub(2).and_then(|at| self.tokens.get(at));
        let Some(comment) = before_end else { return Ok(()) };
        let raw = comment.raw(self.text);
        let is_comment =
            comment.kind == TokenKind::Hidden && (raw.starts_with("--") || raw.starts_with("//"));
        if self.language.is_newest() || !is_comment || raw.ends_with(['\n', '\r']) {
            return Ok(());
        }
        let message = "mismatched character '<EOF>' expecting set null";
        Err(failure::at_character(Place::START.behind(self.text), message))
    }

    /// Refuses `$` in languages without `$$` texts, where `$` is not a valid character.
    pub(super) fn check_dollars(&self) -> Result<()> {
        let is_dollar =
            |token: &Token| token.kind == TokenKind::String && token.raw(self.text).starts_with('$');
        match self.tokens.iter().find(is_dollar) {
            Some(token) if !self.language.has(syntax::DOLLAR_TEXT.since) => {
                // The old servers report the last one. Its lines count as one.
                let begin = Place::START.behind(self.text.get(..token.start).unwrap_or_default());
                let length = token.raw(self.text).encode_utf16().count();
                let place = Place { column: begin.column + length.saturating_sub(1), ..begin };
                Err(failure::at_character(place, "no viable alternative at character '$'"))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether an error was recorded.
    pub(crate) fn has_fault(&self) -> bool {
        self.fault.is_some()
    }

    /// Records an error after which parsing continues.
    pub(crate) fn put_off(&mut self, fault: SyntaxError) {
        self.fault = Some(fault);
    }
}
