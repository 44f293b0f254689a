//! Mistakes with their positions, and how they are displayed.

use std::fmt;
use std::sync::Arc;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};

use super::mistake::Mistake;
use super::source::{Location, Source, Span};

/// Maximum number of displayed mistakes; further ones are counted.
const SHOWN_MAX: usize = 20;

/// A mistake and its position.
#[derive(Debug, Clone)]
pub struct ConfigError {
    pub mistake: Mistake,
    span: Span,
    /// `None` if there is no text to show, because the file could not be read.
    source: Option<Arc<Source>>,
}

impl ConfigError {
    pub(super) fn new(mistake: Mistake, span: Span, source: &Arc<Source>) -> ConfigError {
        ConfigError { mistake, span: source.underlined(span), source: Some(Arc::clone(source)) }
    }

    pub(super) fn without_place(mistake: Mistake) -> ConfigError {
        ConfigError { mistake, span: Span::default(), source: None }
    }

    pub fn location(&self) -> Option<Location> {
        self.source.as_ref().map(|source| source.location(self.span.start))
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mistake.fmt(f)
    }
}

impl std::error::Error for ConfigError {}

impl Diagnostic for ConfigError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.mistake.help().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_deref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.source.as_ref()?;
        let label = LabeledSpan::new(None, self.span.start, self.span.end - self.span.start);
        Some(Box::new(std::iter::once(label)))
    }
}

/// All mistakes in a file, in its order; at least one.
#[derive(Debug, Clone)]
pub struct ConfigErrors {
    pub errors: Vec<ConfigError>,
}

impl ConfigErrors {
    pub(super) fn new(mut errors: Vec<ConfigError>) -> ConfigErrors {
        errors.sort_by_key(|error| error.span.start);
        ConfigErrors { errors }
    }

    /// Returns the text of the errors: with colours and lines for a terminal, without for a file.
    pub fn render(&self, terminal: bool) -> String {
        let theme = if terminal { GraphicalTheme::unicode() } else { GraphicalTheme::none() };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_wrap_lines(false)
            .with_context_lines(0)
            .with_links(false)
            .without_cause_chain()
            .without_syntax_highlighting();
        let mut text = String::new();
        for (index, error) in self.errors.iter().take(SHOWN_MAX).enumerate() {
            if index > 0 {
                text.push('\n');
            }
            // Writing to a `String` cannot fail. A diagnostic that cannot be drawn is printed as plain text.
            if handler.render_report(&mut text, error).is_err() {
                text.push_str(&format!("{error}\n"));
            }
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
