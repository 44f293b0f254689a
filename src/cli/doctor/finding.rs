//! One line of the doctor's report.

use std::io::Write;

use crate::cli::message::{ERROR, FINE, WARNING};
use base::util::output;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// As it should be.
    Fine,
    /// The server works, but something could be better or is probably not meant.
    Advice,
    /// The server does not start, refuses clients, or loses data.
    Problem,
}

/// Something that the doctor has looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub severity: Severity,
    pub text: String,
    /// The advice how to fix it. Empty if there is nothing to do.
    pub remedy: String,
}

/// The findings of one look, in its order.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn fine(&mut self, text: impl Into<String>) {
        self.add(Severity::Fine, text.into(), String::new());
    }

    pub(super) fn advice(&mut self, text: impl Into<String>, remedy: impl Into<String>) {
        self.add(Severity::Advice, text.into(), remedy.into());
    }

    pub(super) fn problem(&mut self, text: impl Into<String>, remedy: impl Into<String>) {
        self.add(Severity::Problem, text.into(), remedy.into());
    }

    fn add(&mut self, severity: Severity, text: String, remedy: String) {
        self.0.push(Finding { severity, text, remedy });
    }

    /// Returns how many findings are problems.
    pub(super) fn problems(&self) -> usize {
        self.count(Severity::Problem)
    }

    fn count(&self, severity: Severity) -> usize {
        self.0.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Prints the findings to standard output.
    pub(super) fn print(&self) {
        for finding in &self.0 {
            let (label, style) = match finding.severity {
                Severity::Fine => ("ok", FINE),
                Severity::Advice => ("advice", WARNING),
                Severity::Problem => ("problem", ERROR),
            };
            let mut out = anstream::stdout().lock();
            output::check(writeln!(out, "{style}{label:<8}{style:#} {}", indented(&finding.text)));
            if !finding.remedy.is_empty() {
                output::check(writeln!(out, "{:8} -> {}", "", indented(&finding.remedy)));
            }
        }
    }

    /// Returns how many findings there are.
    pub(super) fn summary(&self) -> String {
        let counted =
            |count: usize, name: &str| format!("{count} {name}{}", if count == 1 { "" } else { "s" });
        let (problems, advice) = (self.problems(), self.count(Severity::Advice));
        let mut summary =
            if problems == 0 { "no problems found".to_owned() } else { counted(problems, "problem") };
        if advice > 0 {
            summary += &format!(", {}", counted(advice, "suggestion"));
        }
        summary
    }

    #[cfg(test)]
    pub fn all(&self) -> &[Finding] {
        &self.0
    }
}

/// Indents further lines of a text below its first one.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n         ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts() {
        let mut findings = Findings::default();
        findings.fine("a");
        assert_eq!(findings.summary(), "no problems found");
        findings.advice("b", "do c");
        findings.problem("d", "do e");
        findings.problem("f", "do g");
        assert_eq!(findings.summary(), "2 problems, 1 suggestion");
        assert_eq!(findings.problems(), 2);
    }

    #[test]
    fn further_lines_are_indented() {
        assert_eq!(indented("a\nb\n"), "a\n         b");
    }
}
