//! `/model`: sketches of column families and tables.

mod apply;

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::ask::query;
use crate::extract::{Form, Query};
use crate::failure::{AdminError, Result, invalid};
use crate::model::{
    Area, EXAMPLES, Example, NewFamily, ShownFamily, ShownModel, Sketch, SketchError, SketchLanguage,
};
use crate::page::{PageFrame, page, page_with};
use crate::state::{Admin, AdminState};
use crate::visitor::Visitor;
use base::marshal::{PACKAGE, Types};

/// Comparators that a new column family is offered with: the built-in ones that sort names.
const DEFAULT_COMPARATOR: &str = "UTF8Type";

#[derive(Template)]
#[template(path = "pages/model.html")]
struct ModelPage {
    frame: PageFrame,
    sketch: Sketch,
    /// The id of the example that is shown, or an empty text.
    example: String,
    /// `None` if nothing was sketched yet.
    model: Option<ShownModel>,
    /// The fields of the form for a new column family.
    family: NewFamily,
    /// Why the column family was not added.
    refusal: String,
    /// The comparators to choose from.
    comparators: Vec<String>,
    /// The address of the sketch; `None` if its texts are too long for one.
    link: Option<String>,
    /// Whether the visitor may apply the sketch to this server.
    may_apply: bool,
    /// Why the sketch was not applied, or could not be exported.
    failure: String,
    /// The keyspaces that it has made on this server.
    applied: Vec<String>,
}

/// A language to choose from: its value in the form, its name, and whether it is chosen.
type Choice = (&'static str, &'static str, bool);

const LANGUAGES: [(&str, &str, SketchLanguage); 3] = [
    ("cql", "CQL", SketchLanguage::Cql),
    ("cassandra-cli", "cassandra-cli", SketchLanguage::CassandraCli),
    ("storage-conf", "storage-conf.xml", SketchLanguage::StorageConf),
];

impl ModelPage {
    fn examples(&self) -> &'static [Example] {
        &EXAMPLES
    }

    fn languages(&self) -> Vec<Choice> {
        LANGUAGES.iter().map(|(value, name, of)| (*value, *name, *of == self.sketch.language)).collect()
    }

    fn data_languages(&self) -> Vec<Choice> {
        let with_data = LANGUAGES.iter().filter(|(.., of)| *of != SketchLanguage::StorageConf);
        with_data.map(|(value, name, of)| (*value, *name, *of == self.sketch.data_language)).collect()
    }

    fn errors_in(&self, area: Area) -> Vec<&SketchError> {
        let errors = self.model.iter().flat_map(|model| &model.errors);
        errors.filter(|error| error.area == area).collect()
    }

    /// Returns the column families of the model.
    fn families(&self) -> &[ShownFamily] {
        self.model.as_ref().map_or(&[], |model| &model.families)
    }

    fn definition_errors(&self) -> Vec<&SketchError> {
        self.errors_in(Area::Definition)
    }

    fn data_errors(&self) -> Vec<&SketchError> {
        self.errors_in(Area::Data)
    }
}

/// The parameters of the page's address: an example, or a sketch.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ModelQuery {
    example: String,
    language: SketchLanguage,
    definition: String,
    data_language: SketchLanguage,
    data: String,
}

/// Longest address of a sketch: longer ones are cut when they are sent to somebody.
const LINK_BYTES_MAX: usize = 6 * 1024;

/// Returns the address of a sketch.
fn link_of(sketch: &Sketch) -> Option<String> {
    let name =
        |of: SketchLanguage| LANGUAGES.iter().find(|(.., known)| *known == of).map_or("", |(name, ..)| name);
    let is_short = sketch.definition.len() + sketch.data.len() <= LINK_BYTES_MAX;
    let link = is_short.then(|| {
        let fields = [
            ("language", name(sketch.language)),
            ("definition", &sketch.definition),
            ("data_language", name(sketch.data_language)),
            ("data", &sketch.data),
        ];
        format!("/model?{}", query(&fields))
    });
    link.filter(|link| link.len() <= LINK_BYTES_MAX)
}

/// The buttons of the form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ModelAction {
    #[default]
    Show,
    /// Adds a column family to the definition.
    Add,
    /// Makes the column families on this server.
    Apply,
}

/// The form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ModelForm {
    language: SketchLanguage,
    definition: String,
    data_language: SketchLanguage,
    data: String,
    action: ModelAction,
    /// The form of the model that a file gets.
    file: String,
    name: String,
    /// `Standard` or `Super`.
    kind: String,
    comparator: String,
    subcomparator: String,
}

impl ModelForm {
    /// Returns the sketch and the new column family. Browsers send lines that end with CR and LF.
    fn divided(self) -> (Sketch, NewFamily) {
        let text = |text: String| text.replace("\r\n", "\n");
        let sketch = Sketch {
            language: self.language,
            definition: text(self.definition),
            data_language: self.data_language,
            data: text(self.data),
        };
        let is_super = self.kind == "Super";
        let (comparator, subcomparator) = (self.comparator, self.subcomparator);
        (sketch, NewFamily { name: self.name, is_super, comparator, subcomparator })
    }
}

fn empty_family() -> NewFamily {
    let comparator = DEFAULT_COMPARATOR.to_owned();
    NewFamily { subcomparator: comparator.clone(), comparator, ..NewFamily::default() }
}

/// Returns the names of the comparators that a schema may use.
fn comparators(types: &Types) -> Vec<String> {
    let own = types.class_names().filter_map(|name| name.strip_prefix(PACKAGE));
    own.filter(|name| !["CounterColumnType", "EmptyType"].contains(name)).map(str::to_owned).collect()
}

/// Answers `GET /model`: an empty form, or an example.
pub(crate) async fn example(
    State(state): Admin,
    visitor: Visitor,
    Query(query): Query<ModelQuery>,
) -> Result<Response> {
    let sketch = match (&*query.example, Example::named(&query.example)) {
        ("", _) => Sketch {
            language: query.language,
            definition: query.definition,
            data_language: query.data_language,
            data: query.data,
        },
        (_, Some(example)) => example.sketch(),
        (id, None) => {
            let known: Vec<&str> = EXAMPLES.iter().map(|example| example.id).collect();
            let why = format!("there is no example {id:?}: use one of {}", known.join(", "));
            return Err(AdminError::not_found(why));
        }
    };
    let asked = Asked { sketch, family: empty_family(), example: query.example, ..Asked::default() };
    Ok(page(&model_page(&state, &visitor, asked).await?))
}

/// Answers `POST /model`. It changes nothing and stores the sketch nowhere, unless it is applied to this server.
pub(crate) async fn show(
    State(state): Admin,
    visitor: Visitor,
    Form(form): Form<ModelForm>,
) -> Result<Response> {
    let form_action = form.action;
    let adds = form_action == ModelAction::Add;
    let (mut sketch, mut family) = form.divided();
    let mut refusal = String::new();
    if adds {
        match family.add_to(sketch.language, &sketch.definition) {
            Ok(definition) => (sketch.definition, family) = (definition, empty_family()),
            Err(why) => refusal = why,
        }
    }
    let applies = form_action == ModelAction::Apply;
    let asked = Asked { sketch, family, refusal, example: String::new() };
    let mut shown = model_page(&state, &visitor, asked).await?;
    let Some(model) = shown.model.as_ref().filter(|model| applies && model.errors.is_empty()) else {
        return Ok(page(&shown));
    };
    let mut status = None;
    match apply::apply(&state, &visitor, &shown.sketch, model).await {
        Ok(keyspaces) => shown.applied = keyspaces,
        Err(AdminError { status: refused, why }) => (status, shown.failure) = (Some(refused), why),
    }
    Ok(page_with(&shown, status))
}

/// Answers `POST /model/file`: the model in one of its forms, as a file.
pub(crate) async fn file(
    State(state): Admin,
    visitor: Visitor,
    Form(form): Form<ModelForm>,
) -> Result<Response> {
    let anchor = form.file.clone();
    let (sketch, _) = form.divided();
    let shown = model_page(&state, &visitor, Asked { sketch, ..Asked::default() }).await?;
    let model = shown.model.unwrap_or_default();
    if let Some(error) = model.errors.first() {
        return invalid(format!("the sketch has a mistake: {}", error.message));
    }
    let name = match &*anchor {
        "storage-conf" => "storage-conf.xml",
        "cassandra-cli" => "model.cli",
        _ => "model.cql",
    };
    let script = model.script(&anchor);
    let script = script.ok_or_else(|| AdminError::invalid(format!("the sketch has no form {anchor:?}")))?;
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    Ok((headers, script.text.clone()).into_response())
}

/// A sketch with the fields around it.
#[derive(Default)]
struct Asked {
    sketch: Sketch,
    family: NewFamily,
    refusal: String,
    example: String,
}

async fn model_page(state: &AdminState, visitor: &Visitor, asked: Asked) -> Result<ModelPage> {
    let Asked { sketch, family, refusal, example } = asked;
    let types = state.database.types();
    let model = if sketch.is_blank() {
        None
    } else {
        let shown = state.sketches.show(sketch.clone(), types.clone()).await;
        Some(shown.ok_or_else(|| {
            let why = "the server is busy with other sketches: try again in a few seconds";
            AdminError::new(StatusCode::SERVICE_UNAVAILABLE, why)
        })?)
    };
    Ok(ModelPage {
        frame: PageFrame::new(visitor, "/model", "Model"),
        link: link_of(&sketch).filter(|_| model.is_some()),
        may_apply: apply::refusal(state, visitor).is_none(),
        sketch,
        example,
        model,
        family,
        refusal,
        comparators: comparators(types),
        failure: String::new(),
        applied: Vec::new(),
    })
}
