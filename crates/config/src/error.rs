//! Mistakes with their positions, and how they are displayed.

use std::fmt;
use std::sync::Arc;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::mistake::Mistake;
use super::source::{SourceLocation, SourceText, TextSpan};

/// Maximum number of displayed mistakes; further ones are counted.
const SHOWN_MAX: usize = 20;

/// A mistake and its position.
#[derive(Debug, Clone)]
pub struct ConfigError {
    /// The mistake. Its message is displayed, and it may have help.
    pub mistake: Mistake,
    span: TextSpan,
    /// `None` if there is no text to show, because the file could not be read.
    source: Option<Arc<SourceText>>,
}

impl ConfigError {
    pub(super) fn new(mistake: Mistake, span: TextSpan, source: &Arc<SourceText>) -> ConfigError {
        ConfigError { mistake, span: source.underlined(span), source: Some(Arc::clone(source)) }
    }

    pub(super) fn without_place(mistake: Mistake) -> ConfigError {
        ConfigError { mistake, span: TextSpan::default(), source: None }
    }

    /// Returns the position; `None` if the file could not be read.
    pub fn location(&self) -> Option<SourceLocation> {
        self.source.as_ref().map(|source| source.location(self.span.start))
    }

    /// Returns the drawing of the mistake: its place in the file, the line with a caret, and the help.
    fn drawing(&self) -> Group<'_> {
        let mut group = Group::with_title(Level::ERROR.primary_title(self.mistake.to_string()));
        if let (Some(source), Some(SourceLocation { file, line, column })) = (&self.source, self.location()) {
            let shown = source.shown(self.span);
            let caret = AnnotationKind::Primary.span(shown.span.start..shown.span.end);
            let snippet = Snippet::source(shown.text).line_start(line).annotation(caret);
            group = if shown.has_beginning {
                group.element(snippet.path(file))
            } else {
                // The column in the file is not the column in this text.
                group.element(Origin::path(file).line(line).char_column(column)).element(snippet)
            };
        }
        match self.mistake.help() {
            Some(help) => group.element(Level::HELP.message(help.to_string())),
            None => group,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mistake.fmt(f)
    }
}

impl std::error::Error for ConfigError {}

/// All mistakes in a file, in its order; at least one.
#[derive(Debug, Clone)]
pub struct ConfigErrors {
    /// The mistakes in the order of the file.
    pub errors: Vec<ConfigError>,
}

impl ConfigErrors {
    pub(super) fn new(mut errors: Vec<ConfigError>) -> ConfigErrors {
        errors.sort_by_key(|error| error.span.start);
        ConfigErrors { errors }
    }

    /// Returns the errors of mistakes with their positions.
    pub(super) fn of<M: Into<Mistake>>(
        mistakes: impl IntoIterator<Item = (TextSpan, M)>,
        source: &Arc<SourceText>,
    ) -> ConfigErrors {
        let errors = mistakes.into_iter();
        ConfigErrors::new(
            errors.map(|(span, mistake)| ConfigError::new(mistake.into(), span, source)).collect(),
        )
    }

    /// Returns the text of the errors: with colours and lines for a terminal, without for a file.
    pub fn render(&self, terminal: bool) -> String {
        let renderer =
            if terminal { Renderer::styled().decor_style(DecorStyle::Unicode) } else { Renderer::plain() };
        let mut text = String::new();
        for error in self.errors.iter().take(SHOWN_MAX) {
            let before = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{before}{}\n", renderer.render(&[error.drawing()])));
        }
        if self.errors.len() > SHOWN_MAX {
            text.push_str(&format!("\n  and {} more\n", self.errors.len() - SHOWN_MAX));
        }
        text
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl std::error::Error for ConfigErrors {}
