//! The fields of the page.

use serde::Deserialize;

/// The language of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AskLanguage {
    #[default]
    Cql,
    Cql2,
    Thrift,
}

/// The views of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum View {
    #[default]
    Table,
    Cells,
    Json,
    /// Only the form: nothing is asked yet.
    Form,
}

/// The fields of the page, all as they were typed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AskForm {
    pub with: AskLanguage,
    pub view: View,
    pub keyspace: String,
    /// The consistency level, by its name.
    pub level: String,
    /// A statement.
    pub cql: String,
    /// Where the page of a result begins, in hex.
    pub page: String,
    /// A Thrift method.
    pub method: String,
    pub family: String,
    /// Row keys, one a line.
    pub keys: String,
    pub super_column: String,
    pub column: String,
    /// Column names, one a line.
    pub columns: String,
    pub start: String,
    pub finish: String,
    /// Not empty: backwards.
    pub reversed: String,
    pub count: String,
    pub start_key: String,
    pub end_key: String,
    pub start_token: String,
    pub end_token: String,
    /// The number of rows.
    pub rows: String,
    /// Conditions on columns, one a line: `name = value`.
    pub filter: String,
}

impl AskForm {
    pub(crate) fn is_thrift(&self) -> bool {
        self.with == AskLanguage::Thrift
    }

    pub(crate) fn is_cql2(&self) -> bool {
        self.with == AskLanguage::Cql2
    }

    pub(crate) fn is_asked(&self) -> bool {
        match self.with {
            AskLanguage::Thrift => !self.family.is_empty(),
            AskLanguage::Cql | AskLanguage::Cql2 => !self.cql.trim().is_empty(),
        }
    }

    /// Returns the method, by default the first of the list.
    pub(crate) fn method(&self) -> &str {
        if self.method.is_empty() { "get_slice" } else { &self.method }
    }

    /// Returns the fields with a value, except the view and the page of the result.
    fn asked(&self) -> Vec<(&'static str, &str)> {
        let with = match self.with {
            AskLanguage::Cql => "",
            AskLanguage::Cql2 => "cql2",
            AskLanguage::Thrift => "thrift",
        };
        let fields = [
            ("with", with),
            ("keyspace", &self.keyspace),
            ("level", &self.level),
            ("cql", &self.cql),
            ("method", &self.method),
            ("family", &self.family),
            ("keys", &self.keys),
            ("super_column", &self.super_column),
            ("column", &self.column),
            ("columns", &self.columns),
            ("start", &self.start),
            ("finish", &self.finish),
            ("reversed", &self.reversed),
            ("count", &self.count),
            ("start_key", &self.start_key),
            ("end_key", &self.end_key),
            ("start_token", &self.start_token),
            ("end_token", &self.end_token),
            ("rows", &self.rows),
            ("filter", &self.filter),
        ];
        fields.into_iter().filter(|(_, value)| !value.is_empty()).collect()
    }

    /// Returns the path of the same question with another view.
    pub(crate) fn path(&self, view: &str) -> String {
        let mut fields = self.asked();
        fields.extend(
            [("page", &*self.page), ("view", view)].into_iter().filter(|(_, value)| !value.is_empty()),
        );
        format!("/ask?{}", query(&fields))
    }

    /// Returns the path of the result as a file.
    pub(crate) fn file_path(&self, extension: &str) -> String {
        let mut fields = self.asked();
        fields.extend([("page", &*self.page)].into_iter().filter(|(_, value)| !value.is_empty()));
        format!("/ask.{extension}?{}", query(&fields))
    }

    /// Returns the path of the next page of the result.
    pub(crate) fn next_path(&self, page: &str) -> String {
        let mut fields = self.asked();
        let view = match self.view {
            View::Table | View::Form => "table",
            View::Cells => "cells",
            View::Json => "json",
        };
        fields.extend([("page", page), ("view", view)]);
        format!("/ask?{}", query(&fields))
    }

    /// Returns one line that names the question in the history.
    pub(crate) fn title(&self) -> String {
        let text = match self.with {
            AskLanguage::Cql | AskLanguage::Cql2 => self.cql.clone(),
            AskLanguage::Thrift => {
                let keys = self.keys.lines().next().unwrap_or_default();
                format!("{} {}.{} {keys}", self.method(), self.keyspace, self.family)
            }
        };
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().take(200).collect()
    }
}

/// Returns fields in the form of a query.
pub(crate) fn query(fields: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = fields
        .iter()
        .filter_map(|(name, value)| {
            Some(format!("{name}={}", askama::filters::urlencode_strict(value).ok()?))
        })
        .collect();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_repeat_the_question() {
        let form = AskForm {
            keyspace: "blog".to_owned(),
            cql: "SELECT *\nFROM \"T\" WHERE k = 'a&b ü'".to_owned(),
            page: "00ff".to_owned(),
            ..AskForm::default()
        };
        let asked =
            "keyspace=blog&cql=SELECT%20%2A%0AFROM%20%22T%22%20WHERE%20k%20%3D%20%27a%26b%20%C3%BC%27";
        assert_eq!(form.path("json"), format!("/ask?{asked}&page=00ff&view=json"));
        assert_eq!(form.next_path("01"), format!("/ask?{asked}&page=01&view=table"));
        assert_eq!(form.title(), "SELECT * FROM \"T\" WHERE k = 'a&b ü'");
    }
}
