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

pub(crate) const EXAMPLES: [Example; 7] = [
    Example {
        id: "blog",
        title: "Blog, as storage-conf.xml",
        language: SketchLanguage::StorageConf,
        definition: include_str!("examples/blog.xml"),
        data: include_str!("examples/blog.cli"),
    },
    Example {
        id: "blog-cql",
        title: "Blog, as CQL",
        language: SketchLanguage::Cql,
        definition: include_str!("examples/blog.cql"),
        data: include_str!("examples/blog-data.cql"),
    },
    Example {
        id: "killrvideo",
        title: "KillrVideo",
        language: SketchLanguage::Cql,
        definition: include_str!("examples/killrvideo.cql"),
        data: include_str!("examples/killrvideo-data.cql"),
    },
    Example {
        id: "posts",
        title: "Posts of a user",
        language: SketchLanguage::Cql,
        definition: include_str!("examples/posts.cql"),
        data: include_str!("examples/posts-data.cql"),
    },
    Example {
        id: "gyms",
        title: "Gyms by city",
        language: SketchLanguage::Cql,
        definition: include_str!("examples/gyms.cql"),
        data: include_str!("examples/gyms-data.cql"),
    },
    Example {
        id: "liked-products",
        title: "Liked products",
        language: SketchLanguage::Cql,
        definition: include_str!("examples/liked-products.cql"),
        data: include_str!("examples/liked-products-data.cql"),
    },
    Example {
        id: "testtable",
        title: "testtable",
        language: SketchLanguage::Cql,
        definition: include_str!("examples/testtable.cql"),
        data: include_str!("examples/testtable-data.cql"),
    },
];
