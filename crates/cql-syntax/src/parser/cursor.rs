//! The position in the list of tokens, and the basic parsing steps of all statements.

use std::ops::Range;

use crate::compat::Behaviour;
use crate::compat::features::{Language, LaterFeature, Syntax, syntax};
use crate::cql::syntax::failure::{self, UnexpectedToken};
use crate::cql::syntax::token::{Token, TokenKind};
use crate::cql::syntax::{Term, keywords, lexer};
use crate::cql::{CqlError, Place};
use crate::util::Release;
use crate::util::limits::{MARKERS_MAX, STATEMENT_NESTING_MAX};

pub struct Parser<'t> {
    pub(in crate::cql) text: &'t str,
    tokens: Vec<Token>,
    /// The indexes of the tokens that are not hidden; the last is that of `End`.
    visible: Vec<usize>,
    at: usize,
    depth: usize,
    pub(in crate::cql) release: Release,
    pub(in crate::cql) language: Language,
    pub(in crate::cql) markers: Vec<Option<String>>,
    /// See `Parsed`; also for `functions`.
    pub(super) unqualified: Vec<usize>,
    pub(super) functions: Vec<Range<usize>>,
    /// An error after which parsing continued. The old servers report the last error of a text.
    fault: Option<CqlError>,
    /// The syntax error of releases without materialized views, in a statement about one.
    pub before_views: Option<(String, Place)>,
    /// In a statement with a feature that came after 2.1, the syntax error of releases without it.
    pub before_feature: Option<(LaterFeature, String, Place)>,
}

impl<'t> Parser<'t> {
    pub fn new(text: &'t str, release: Release) -> Result<Parser<'t>, CqlError> {
        let tokens = lexer::tokens(text)?;
        let visible = (0..tokens.len()).filter(|at| tokens[*at].kind != TokenKind::Hidden).collect();
        Ok(Parser {
            text,
            tokens,
            visible,
            at: 0,
            depth: 0,
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

    /// Returns the index, among all tokens, of the visible token `ahead` positions from here.
    fn index(&self, ahead: usize) -> usize {
        let at = (self.at + ahead).min(self.visible.len().saturating_sub(1));
        self.visible.get(at).copied().unwrap_or_default()
    }

    pub(in crate::cql) fn peek(&self, ahead: usize) -> Token {
        let end = Token { kind: TokenKind::End, start: 0, end: 0, line: 1, column: 0 };
        self.tokens.get(self.index(ahead)).copied().unwrap_or(end)
    }

    pub(in crate::cql) fn kind(&self, ahead: usize) -> TokenKind {
        self.peek(ahead).kind
    }

    pub(in crate::cql) fn raw(&self, ahead: usize) -> &'t str {
        self.peek(ahead).raw(self.text)
    }

    pub(in crate::cql) fn advance(&mut self) {
        self.at = (self.at + 1).min(self.visible.len().saturating_sub(1));
    }

    pub(in crate::cql) fn is_symbol(&self, ahead: usize, symbol: &str) -> bool {
        self.kind(ahead) == TokenKind::Symbol && self.raw(ahead) == symbol
    }

    /// Checks whether the token is this keyword.
    pub(in crate::cql) fn is_word(&self, ahead: usize, keyword: &str) -> bool {
        let is_same = |keyword: &str| self.raw(ahead).eq_ignore_ascii_case(keyword);
        self.kind(ahead) == TokenKind::Word
            && match keyword {
                "TABLE" => is_same("TABLE") || is_same("COLUMNFAMILY"),
                "KEYSPACE" => is_same("KEYSPACE") || is_same("SCHEMA"),
                _ => is_same(keyword),
            }
    }

    pub(in crate::cql) fn are_words(&self, keywords: &[&str]) -> bool {
        keywords.iter().enumerate().all(|(ahead, keyword)| self.is_word(ahead, keyword))
    }

    /// Checks whether the token can be a name.
    pub(in crate::cql) fn is_name(&self, ahead: usize) -> bool {
        match self.kind(ahead) {
            TokenKind::QuotedName => true,
            TokenKind::Word => !keywords::is_reserved(self.raw(ahead)),
            _ => false,
        }
    }

    pub(in crate::cql) fn eat_symbol(&mut self, symbol: &str) -> bool {
        let is_there = self.is_symbol(0, symbol);
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(in crate::cql) fn eat_word(&mut self, keyword: &str) -> bool {
        self.eat_words(&[keyword])
    }

    /// Consumes all of these keywords, or none.
    pub(in crate::cql) fn eat_words(&mut self, keywords: &[&str]) -> bool {
        let are_there = self.are_words(keywords);
        if are_there {
            keywords.iter().for_each(|_| self.advance());
        }
        are_there
    }

    pub(in crate::cql) fn expect_symbol(&mut self, symbol: &str) -> Result<(), CqlError> {
        if self.eat_symbol(symbol) {
            return Ok(());
        }
        Err(self.mismatched(&format!("'{symbol}'"), self.is_symbol(1, symbol)))
    }

    pub(in crate::cql) fn expect_word(&mut self, keyword: &str) -> Result<(), CqlError> {
        if self.eat_word(keyword) {
            return Ok(());
        }
        Err(self.mismatched(&keywords::token_name(keyword), self.is_word(1, keyword)))
    }

    pub(in crate::cql) fn expect_words(&mut self, keywords: &[&str]) -> Result<(), CqlError> {
        keywords.iter().try_for_each(|keyword| self.expect_word(keyword))
    }

    /// Consumes a token of this kind and returns its value.
    pub(in crate::cql) fn expect_kind(&mut self, kind: TokenKind, name: &str) -> Result<String, CqlError> {
        if self.kind(0) == kind {
            return Ok(self.take_value());
        }
        Err(self.mismatched(name, self.kind(1) == kind))
    }

    pub(in crate::cql) fn expect_string(&mut self) -> Result<String, CqlError> {
        self.expect_kind(TokenKind::String, "STRING_LITERAL")
    }

    pub(in crate::cql) fn take_value(&mut self) -> String {
        let value = self.peek(0).value(self.text);
        self.advance();
        value
    }

    /// Parses a name, which is lowercased unless it is quoted.
    pub(in crate::cql) fn name(&mut self) -> Result<String, CqlError> {
        if !self.is_name(0) {
            return Err(self.no_viable(0));
        }
        let is_quoted = self.kind(0) == TokenKind::QuotedName;
        let name = self.take_value();
        Ok(if is_quoted { name } else { name.to_lowercase() })
    }

    /// Parses one or more items separated by commas.
    pub(in crate::cql) fn list<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, CqlError>,
    ) -> Result<Vec<T>, CqlError> {
        let mut list = vec![one(self)?];
        while self.eat_symbol(",") {
            list.push(one(self)?);
        }
        Ok(list)
    }

    /// Parses a list in parentheses.
    pub(in crate::cql) fn list_in_parentheses<T>(
        &mut self,
        one: impl FnMut(&mut Self) -> Result<T, CqlError>,
    ) -> Result<Vec<T>, CqlError> {
        self.expect_symbol("(")?;
        let list = self.list(one)?;
        self.expect_symbol(")")?;
        Ok(list)
    }

    /// Parses `?` or `:name`, or returns `None`.
    pub(in crate::cql) fn marker(&mut self) -> Result<Option<usize>, CqlError> {
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
            return Err(CqlError::invalid(format!("A statement can have {MARKERS_MAX} markers at most")));
        }
        self.markers.push(name);
        Ok(Some(self.markers.len() - 1))
    }

    pub(in crate::cql) fn marker_term(&mut self) -> Result<Option<Term>, CqlError> {
        Ok(self.marker()?.map(Term::Marker))
    }

    /// Parses an item that may contain items of the same kind, and limits the nesting depth.
    pub(in crate::cql) fn nested<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, CqlError>,
    ) -> Result<T, CqlError> {
        if self.depth >= STATEMENT_NESTING_MAX {
            let place = self.peek(0).place();
            let message = format!("line {}:{} the statement is nested too deeply", place.line, place.column);
            return Err(CqlError::Syntax { message, place });
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Returns the error that no alternative begins with this token.
    pub(in crate::cql) fn no_viable(&self, ahead: usize) -> CqlError {
        self.no_viable_from(self.at, ahead)
    }

    /// Returns the same error for a choice that began earlier. `start` is a result of `position`.
    pub(in crate::cql) fn no_viable_from(&self, start: usize, ahead: usize) -> CqlError {
        let reported = self.index(ahead);
        let index = self.visible.get(start).copied().unwrap_or(reported);
        let message = format!("no viable alternative at input '{}'", self.shown(ahead));
        self.failure(UnexpectedToken { reported, index, seen: reported.max(index) }, &message)
    }

    pub(in crate::cql) fn position(&self) -> usize {
        self.at
    }

    /// Returns the error that another token was expected. `is_next`: that token comes next, so this one is extraneous.
    pub(in crate::cql) fn mismatched(&self, expected: &str, is_next: bool) -> CqlError {
        let what = if is_next { "extraneous" } else { "mismatched" };
        let message = format!("{what} input '{}' expecting {expected}", self.shown(0));
        self.failure(self.misfit_here(), &message)
    }

    /// Returns the error that the statement should have ended.
    pub(in crate::cql) fn not_at_end(&self) -> CqlError {
        if self.kind(1) == TokenKind::End {
            return self.mismatched("EOF", true);
        }
        self.failure(self.misfit_here(), &format!("missing EOF at '{}'", self.shown(0)))
    }

    /// Returns the error that one or more items were expected.
    pub(in crate::cql) fn early_exit(&self) -> CqlError {
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

    fn failure(&self, misfit: UnexpectedToken, message: &str) -> CqlError {
        failure::at_token(
            self.text,
            &self.tokens,
            &misfit,
            message,
            Behaviour::of(self.release).cql.syntax_errors_show_words,
        )
    }

    /// Records an error after which parsing continues. The message names no position.
    pub(in crate::cql) fn complain(&mut self, message: String) {
        let Place { line, column } = self.peek(0).place();
        self.put_off(CqlError::Syntax { message, place: Place { line, column } });
    }

    /// Records that the syntax just before this position was added in a release. Older languages refuse it.
    pub(in crate::cql) fn needs(&mut self, syntax: Syntax) {
        if !self.language.has(syntax.since) {
            let place = self.peek(0).place();
            let (line, column) = (place.line, place.column);
            let Syntax { name, since } = syntax;
            let message = format!(
                "line {line}:{column} {name} came with Cassandra {since}, and --compat names an older one"
            );
            self.put_off(CqlError::Syntax { message, place });
        }
    }

    /// Records the syntax error of releases without a feature. The first one of a text counts.
    pub(super) fn came_with(&mut self, feature: LaterFeature, error: CqlError) {
        if let (None, CqlError::Syntax { message, place }) = (&self.before_feature, error) {
            self.before_feature = Some((feature, message, place));
        }
    }

    /// Checks that a comment at the end of the text ends with a newline, as the old servers require.
    pub(super) fn check_comment(&self) -> Result<(), CqlError> {
        let [.., comment, end] = &self.tokens[..] else { return Ok(()) };
        let raw = comment.raw(self.text);
        let is_comment =
            comment.kind == TokenKind::Hidden && (raw.starts_with("--") || raw.starts_with("//"));
        if self.language.is_newest() || !is_comment || raw.ends_with(['\n', '\r']) {
            return Ok(());
        }
        let message = "mismatched character '<EOF>' expecting set null";
        Err(failure::at_character(end.line, end.column, message))
    }

    /// Refuses `$` in languages without `$$` texts, where `$` is no valid character.
    pub(super) fn check_dollars(&self) -> Result<(), CqlError> {
        let is_dollar =
            |token: &&Token| token.kind == TokenKind::String && token.raw(self.text).starts_with('$');
        match self.tokens.iter().find(is_dollar) {
            Some(token) if !self.language.has(syntax::DOLLAR_TEXT.since) => {
                // The old servers report the last one.
                let length = token.raw(self.text).encode_utf16().count();
                let column = token.column + u32::try_from(length).unwrap_or(u32::MAX).saturating_sub(1);
                Err(failure::at_character(token.line, column, "no viable alternative at character '$'"))
            }
            _ => Ok(()),
        }
    }

    /// Records an error after which parsing continues.
    pub(in crate::cql) fn put_off(&mut self, fault: CqlError) {
        self.fault = Some(fault);
    }

    pub(in crate::cql) fn take_fault(&mut self) -> Option<CqlError> {
        self.fault.take()
    }
}
