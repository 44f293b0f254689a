//! Parses the text of an element or attribute.

use std::path::PathBuf;

use super::mistake::{Mistake, UnknownName};
use super::setting::{NameKind, unset};
use super::xml::Text;
use base::marshal;
use base::marshal::{TypeRef, Types};

/// A given text. Old servers did not trim it, and failed to start with ` 9160 `; this server trims it.
pub(crate) struct SettingValue<'a> {
    /// The name of the setting in its file, and what has the name.
    pub name: &'static str,
    pub kind: NameKind,
    /// As in the file, not trimmed.
    pub given: &'a Text,
    pub text: &'a str,
    pub types: &'a Types,
}

impl SettingValue<'_> {
    /// Returns the text; a mistake if it is empty.
    pub(crate) fn not_empty(&self) -> Result<String, Mistake> {
        match self.text {
            "" => Err(Mistake::EmptyValue { tag: self.name.to_owned() }),
            text => Ok(text.to_owned()),
        }
    }

    /// Returns the text as a path.
    pub(crate) fn path(&self) -> Result<PathBuf, Mistake> {
        Ok(self.text.into())
    }

    /// Parses a 32-bit integer, as Java does.
    pub(crate) fn integer(&self) -> Result<i32, Mistake> {
        self.text
            .parse()
            .map_err(|_| Mistake::NotAnInteger { tag: self.name.to_owned(), given: self.text.to_owned() })
    }

    /// Parses an integer that is at least `least`.
    pub(crate) fn at_least(&self, least: i32) -> Result<i32, Mistake> {
        let number = self.integer()?;
        if number < least {
            return Err(self.out_of_bounds(self.name, &format!("at least {least}")));
        }
        Ok(number)
    }

    /// Parses a port; 0 is allowed.
    pub(crate) fn port(&self) -> Result<u16, Mistake> {
        u16::try_from(self.integer()?).map_err(|_| self.out_of_bounds(self.name, "between 0 and 65535"))
    }

    /// Parses a finite number.
    pub(crate) fn double(&self) -> Result<f64, Mistake> {
        match self.text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(Mistake::NotADouble { tag: self.name.to_owned(), given: self.text.to_owned() }),
        }
    }

    /// Parses a time limit: milliseconds, at least 1.
    pub(crate) fn time_limit_ms(&self) -> Result<u64, Mistake> {
        Ok(u64::from(self.at_least(1)?.unsigned_abs()))
    }

    /// Parses a double that is at least 0.
    pub(crate) fn positive_double(&self) -> Result<f64, Mistake> {
        let number = self.double()?;
        if number < 0.0 {
            return Err(self.out_of_bounds(self.name, "at least 0"));
        }
        Ok(number)
    }

    /// Parses a boolean; in a cassandra.yaml also the further words of YAML 1.1, in any letter case.
    pub(crate) fn boolean(&self) -> Result<bool, Mistake> {
        match self.text.to_ascii_lowercase().as_str() {
            "yes" | "on" if self.kind == NameKind::Key => Ok(true),
            "no" | "off" if self.kind == NameKind::Key => Ok(false),
            _ => self.boolean_called(self.name),
        }
    }

    /// Parses a boolean. The error text names it `tag`.
    pub(crate) fn boolean_called(&self, tag: &str) -> Result<bool, Mistake> {
        if self.text.eq_ignore_ascii_case("true") {
            Ok(true)
        } else if self.text.eq_ignore_ascii_case("false") {
            Ok(false)
        } else {
            Err(Mistake::NotABoolean { tag: tag.to_owned(), given: self.text.to_owned() })
        }
    }

    /// Parses a count, a fraction up to 1, or a percentage.
    pub(crate) fn cache_size(&self) -> Result<f64, Mistake> {
        let number = self.text.strip_suffix('%').unwrap_or(self.text).trim_end();
        match number.parse::<f64>() {
            Ok(size) if size.is_finite() && size >= 0.0 => Ok(size),
            _ => Err(Mistake::NotACacheSize { tag: self.name.to_owned(), given: self.text.to_owned() }),
        }
    }

    /// Parses one of several words, case-sensitively. Returns its index.
    pub(crate) fn word(&self, allowed: &[&str], error: &str) -> Result<usize, Mistake> {
        allowed
            .iter()
            .position(|word| *word == self.text)
            .ok_or_else(|| Mistake::UnknownWord(error.to_owned(), self.choice(allowed.iter().copied())))
    }

    /// Checks the text of a setting without effect, as the old servers did. `kind` is from `settings.txt`.
    pub(crate) fn check_ignored(&self, kind: &str) -> Result<(), Mistake> {
        let bounded = |holds, tag, bound| if holds { Ok(()) } else { Err(self.out_of_bounds(tag, bound)) };
        match kind {
            "" => Ok(()),
            "boolean" => self.boolean().map(drop),
            "hinted-handoff" => self.boolean_called("HintedHandoff").map(drop),
            "integer" => self.integer().map(drop),
            "threads" => self.at_least(1).map(drop),
            "port" => self.port().map(drop),
            "double" => self.double().map(drop),
            "cache-size" => self.cache_size().map(drop),
            "object-count" => bounded(self.double()? > 0.0, "Memtable object count", "a positive double"),
            "IndexInterval" => {
                bounded(self.integer()? >= 1, "Index Interval", "a positive, non-zero integer.")
            }
            "RowWarningThresholdInMB" => {
                bounded(self.integer()? >= 1, "Row warning threshold", "a positive integer")
            }
            "PhiConvictThreshold" => {
                bounded((5..=16).contains(&self.integer()?), self.name, "between 5 and 16")
            }
            "DiskAccessMode" => {
                let words = ["auto", "mmap", "mmap_index_only", "standard"];
                let text = "DiskAccessMode must be either 'auto', 'mmap', 'mmap_index_only', or 'standard'";
                self.word(&words, text).map(drop)
            }
            _ => unset(kind),
        }
    }

    /// Finds a comparator by its class name, full or short.
    pub(crate) fn comparator(&self) -> Result<TypeRef, Mistake> {
        // Later releases read an empty text as BytesType; the releases with this file did not.
        let named = (!self.text.is_empty()).then_some(self.text);
        named.and_then(|text| self.types.resolve(text)).ok_or_else(|| {
            let full = if self.text.contains('.') {
                self.text.to_owned()
            } else {
                format!("{}{}", marshal::PACKAGE, self.text)
            };
            let known =
                self.types.class_names().map(|name| name.strip_prefix(marshal::PACKAGE).unwrap_or(name));
            Mistake::UnknownComparator {
                attribute: self.name.to_owned(),
                class: UnknownName::new(&full, known),
            }
        })
    }

    /// Returns the text as a name that is not one of those allowed.
    pub(crate) fn choice<'k>(&self, allowed: impl IntoIterator<Item = &'k str>) -> UnknownName {
        UnknownName::new(self.text, allowed)
    }

    /// Returns the mistake of a value out of bounds. Its message names the setting `tag`.
    pub(crate) fn out_of_bounds(&self, tag: &str, bound: &str) -> Mistake {
        Mistake::OutOfBounds { tag: tag.to_owned(), bound: bound.to_owned(), given: self.text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_booleans_are_parsed_as_java_does() {
        let types = Types::builtin();
        let given = Text::default();
        let value =
            |text| SettingValue { name: "X", kind: NameKind::Element, given: &given, text, types: &types };
        assert_eq!(value("-7").integer(), Ok(-7));
        assert!(value("4294967296").integer().is_err());
        assert!(value("1.5").integer().is_err());
        assert_eq!(value("0.5").double(), Ok(0.5));
        assert!(value("NaN").double().is_err());
        assert_eq!(value("TRUE").boolean(), Ok(true));
        assert!(value("yes").boolean().is_err());
        assert_eq!(value("50%").cache_size(), Ok(50.0));
        assert!(value("-1").cache_size().is_err());
        assert!(value("70000").port().is_err());
    }
}
