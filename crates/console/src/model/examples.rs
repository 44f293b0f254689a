//! The examples: the blog of the 2009 article about data models, and the tables of later articles.

use super::sketch::{Sketch, SketchLanguage};

/// A sketch that comes with the server.
#[derive(Debug)]
pub(crate) struct Example {
    /// Its name in the address of the page.
    pub id: &'static str,
    pub title: &'static str,
    language: SketchLanguage,
    definition: &'static str,
    data: &'static str,
}

impl Example {
    pub(crate) fn named(id: &str) -> Option<&'static Example> {
        EXAMPLES.iter().find(|example| example.id == id)
    }

    /// Returns the sketch. The data of a storage-conf.xml are statements of cassandra-cli.
    pub(crate) fn sketch(&self) -> Sketch {
        let data_language = match self.language {
            SketchLanguage::StorageConf => SketchLanguage::CassandraCli,
            other => other,
        };
        let (definition, data) = (self.definition.to_owned(), self.data.to_owned());
        Sketch { language: self.language, definition, data_language, data }
    }
}

/// Returns an example in CQL, whose two files are named after it.
macro_rules! in_cql {
    ($id:literal, $file:literal, $title:literal) => {
        Example {
            id: $id,
            title: $title,
            language: SketchLanguage::Cql,
            definition: include_str!(concat!("examples/", $file, ".cql")),
            data: include_str!(concat!("examples/", $file, "-data.cql")),
        }
    };
}

pub(crate) const EXAMPLES: [Example; 7] = [
    Example {
        id: "blog",
        title: "Blog, as storage-conf.xml",
        language: SketchLanguage::StorageConf,
        definition: include_str!("examples/blog.xml"),
        data: include_str!("examples/blog.cli"),
    },
    in_cql!("blog-cql", "blog", "Blog, as CQL"),
    in_cql!("killrvideo", "killrvideo", "KillrVideo"),
    in_cql!("posts", "posts", "Posts of a user"),
    in_cql!("gyms", "gyms", "Gyms by city"),
    in_cql!("liked-products", "liked-products", "Liked products"),
    in_cql!("testtable", "testtable", "testtable"),
];
