//! Parses the properties after WITH.

use super::Parser;
use crate::error::invalid;
use crate::limits::PROPERTIES_MAX;
use crate::token::TokenKind;
use crate::{Properties, PropertyValue, Result, Term};
use base::compat::features::syntax;

impl Parser<'_> {
    pub(super) fn properties(&mut self) -> Result<Properties> {
        let mut properties = Properties::default();
        loop {
            self.property(&mut properties)?;
            if !self.eat_word("AND") {
                return Ok(properties);
            }
        }
    }

    pub(super) fn property(&mut self, properties: &mut Properties) -> Result<()> {
        let name = self.name()?;
        self.expect_symbol("=")?;
        let value = match self.property_value()? {
            Some(text) => PropertyValue::Text(text),
            None if self.is_symbol(0, "{") => PropertyValue::Map(self.property_map()?),
            None => return Err(self.no_viable(0)),
        };
        if self.language.lacks_property(&name) {
            self.complain(format!("Unknown property '{name}'"));
        }
        if name == "caching" && matches!(value, PropertyValue::Map(_)) {
            self.needs(syntax::CACHING_MAP);
        }
        if properties.0.len() >= PROPERTIES_MAX {
            return invalid(format!("There can be {PROPERTIES_MAX} properties at most"));
        }
        if properties.0.iter().any(|(earlier, _)| *earlier == name) {
            self.complain(format!("Multiple definition for property '{name}'"));
        }
        properties.0.push((name, value));
        Ok(())
    }

    fn property_value(&mut self) -> Result<Option<String>> {
        if let Some(Term::Constant { text, .. }) = self.constant() {
            return Ok(Some(text.into()));
        }
        if self.kind(0) == TokenKind::Word && self.is_name(0) {
            return Ok(Some(self.take_value()));
        }
        Ok(None)
    }

    fn property_map(&mut self) -> Result<Vec<(String, String)>> {
        let mut map = Vec::new();
        self.expect_symbol("{")?;
        if self.eat_symbol("}") {
            return Ok(map);
        }
        loop {
            let name = self.term()?;
            self.expect_symbol(":")?;
            let value = self.term()?;
            if map.len() >= PROPERTIES_MAX {
                return invalid(format!("There can be {PROPERTIES_MAX} properties at most"));
            }
            self.add_entry(&mut map, &name, &value);
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol("}")?;
        Ok(map)
    }

    /// Adds an entry of a property's map. Its name and value must be constants.
    fn add_entry(&mut self, map: &mut Vec<(String, String)>, name: &Term, value: &Term) {
        let about_markers = |term: &Term| match term {
            Term::Marker(_) => " (bind variables are not supported in DDL queries)",
            _ => "",
        };
        match (name, value) {
            (Term::Constant { text: name, .. }, Term::Constant { text: value, .. }) => {
                // The last value counts, as in the old servers' map.
                map.retain(|(earlier, _)| **earlier != **name);
                map.push((name.to_string(), value.to_string()));
            }
            (Term::Constant { .. }, _) => {
                let about = about_markers(value);
                self.complain(format!("Invalid property value: {value} for property: {name}{about}"));
            }
            _ => self.complain(format!("Invalid property name: {name}{}", about_markers(name))),
        }
    }
}
