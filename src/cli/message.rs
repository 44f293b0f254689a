//! Messages for people on standard error, in colour on terminals.
//!
//! `NO_COLOR` in the environment disables colours, as `anstream` documents.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use crate::cli::Result;
use base::marshal::Types;
use config::{Config, ConfigErrors};

/// The style of errors.
pub(super) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The style of warnings.
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// The style of good results.
pub(super) const FINE: Style = AnsiColor::Green.on_default().bold();

/// Prints the error that ends a command. A configuration's errors are drawings, which have colours of their own.
pub(super) fn print_error(message: &str) {
    if is_drawing(message) {
        let _ = writeln!(anstream::stderr(), "{message}");
    } else {
        let _ = writeln!(anstream::stderr(), "{ERROR}error:{ERROR:#} {message}");
    }
}

/// Loads the configuration of a file, else of the current directory, else the built-in one. Its errors are drawings.
pub(super) fn load_config(file: Option<&Path>, types: &Types) -> Result<Config> {
    config::load_or_default(file, types).map_err(|errors| drawing(&errors))
}

/// Returns the drawing of a configuration's errors.
pub(super) fn drawing(errors: &ConfigErrors) -> String {
    errors.render(std::io::stderr().is_terminal())
}

fn is_drawing(message: &str) -> bool {
    message.starts_with("error: ") || message.starts_with('\u{1b}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::Types;

    #[test]
    fn errors_of_configurations_are_drawings_with_and_without_colours() {
        let errors =
            config::parse("<Storage><ThriftPort>x</ThriftPort></Storage>", "a.xml", &Types::builtin())
                .unwrap_err();
        for terminal in [false, true] {
            let text = errors.render(terminal);
            assert!(is_drawing(&text), "{text}");
            assert!(text.contains("ThriftPort"), "{text}");
        }
        assert!(!is_drawing("cannot listen on 127.0.0.1:9160"));
    }
}
