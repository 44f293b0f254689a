//! Adds a column family to the text of a definition.

use serde::Deserialize;

use super::sketch::SketchLanguage;

/// A column family that the form of the page adds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct NewFamily {
    pub name: String,
    pub is_super: bool,
    /// Names of classes without Cassandra's package.
    pub comparator: String,
    pub subcomparator: String,
}

impl NewFamily {
    /// Appends the column family to a definition.
    ///
    /// # Errors
    /// Why the name or a comparator cannot be written into a definition.
    pub(crate) fn add_to(&self, language: SketchLanguage, definition: &str) -> Result<String, String> {
        let name = self.name.trim();
        let is_word = |text: &str| {
            text.starts_with(|first: char| first.is_ascii_alphabetic())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if !is_word(name) {
            return Err(
                "The name of a column family has letters, digits and underscores, and begins with a letter."
                    .to_owned(),
            );
        }
        if !is_word(&self.comparator) || !is_word(&self.subcomparator) {
            return Err("Choose the comparators from their lists.".to_owned());
        }
        Ok(match language {
            SketchLanguage::StorageConf => self.in_storage_conf(name, definition),
            SketchLanguage::CassandraCli => joined(definition, &self.in_cassandra_cli(name)),
            SketchLanguage::Cql => joined(definition, &self.in_cql(name)),
        })
    }

    /// Inserts the element at the end of the last keyspace, or of a new one.
    fn in_storage_conf(&self, name: &str, definition: &str) -> String {
        let comparator = &self.comparator;
        let mut element = format!("    <ColumnFamily Name=\"{name}\" CompareWith=\"{comparator}\"");
        if self.is_super {
            element.push_str(&format!(
                " ColumnType=\"Super\"\n        CompareSubcolumnsWith=\"{}\"",
                self.subcomparator
            ));
        }
        element.push_str("/>\n");
        match definition.rfind("</Keyspace>") {
            Some(at) => {
                let (before, after) = definition.split_at(at);
                let line_start = before.trim_end_matches([' ', '\t']).len();
                let (before, indent) = before.split_at(line_start);
                let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
                format!("{before}{gap}{element}{indent}{after}")
            }
            None => joined(definition, &format!("<Keyspace Name=\"Sketch\">\n{element}</Keyspace>\n")),
        }
    }

    fn in_cassandra_cli(&self, name: &str) -> String {
        let mut of_super = String::new();
        if self.is_super {
            of_super = format!("column_type = Super\n  and subcomparator = {}\n  and ", self.subcomparator);
        }
        format!("create column family {name}\n  with {of_super}comparator = {};\n", self.comparator)
    }

    /// CQL has no super columns: the name of a super column is a clustering column of its own.
    fn in_cql(&self, name: &str) -> String {
        let of_class = |class: &str| format!("'org.apache.cassandra.db.marshal.{class}'");
        let mut columns = format!("  key blob,\n  column1 {},\n", of_class(&self.comparator));
        let mut key = "key, column1".to_owned();
        if self.is_super {
            columns.push_str(&format!("  column2 {},\n", of_class(&self.subcomparator)));
            key.push_str(", column2");
        }
        format!("CREATE TABLE \"{name}\" (\n{columns}  value blob,\n  PRIMARY KEY ({key})\n);\n")
    }
}

fn joined(definition: &str, more: &str) -> String {
    let definition = definition.trim_end();
    if definition.is_empty() { more.to_owned() } else { format!("{definition}\n\n{more}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(is_super: bool) -> NewFamily {
        let (comparator, subcomparator) = ("LongType".to_owned(), "UTF8Type".to_owned());
        NewFamily { name: " New ".to_owned(), is_super, comparator, subcomparator }
    }

    #[test]
    fn a_column_family_is_added_to_the_last_keyspace() {
        let added = family(true)
            .add_to(SketchLanguage::StorageConf, "<Keyspace Name=\"A\">\n  </Keyspace>\n")
            .unwrap();
        assert_eq!(
            added,
            "<Keyspace Name=\"A\">\n    <ColumnFamily Name=\"New\" CompareWith=\"LongType\" ColumnType=\"Super\"\n        \
             CompareSubcolumnsWith=\"UTF8Type\"/>\n  </Keyspace>\n"
        );
        let added = family(false).add_to(SketchLanguage::StorageConf, "").unwrap();
        assert!(added.starts_with("<Keyspace Name=\"Sketch\">\n"), "{added}");
        let added = family(false).add_to(SketchLanguage::CassandraCli, "use a;\n").unwrap();
        assert_eq!(added, "use a;\n\ncreate column family New\n  with comparator = LongType;\n");
    }

    #[test]
    fn names_that_are_no_words_are_refused() {
        for name in ["", "a b", "\"/>", "1a", "é"] {
            let family = NewFamily { name: name.to_owned(), ..family(false) };
            assert!(family.add_to(SketchLanguage::Cql, "").is_err(), "{name}");
        }
        let family = NewFamily { comparator: "x\"/>".to_owned(), ..family(false) };
        assert!(family.add_to(SketchLanguage::StorageConf, "").is_err());
    }
}
