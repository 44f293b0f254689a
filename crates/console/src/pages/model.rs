//! `/model`: sketches of column families and tables.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use crate::extract::{Form, Query};
use crate::failure::AdminError;
use crate::model::{Area, EXAMPLES, Example, NewFamily, ShownModel, Sketch, SketchError, SketchLanguage};
use crate::page::{Frame, page};
use crate::state::AdminState;
use crate::visitor::Visitor;
use base::marshal::{PACKAGE, Types};

/// Comparators that a new column family is offered with: the built-in ones that sort names.
const DEFAULT_COMPARATOR: &str = "UTF8Type";

#[derive(Template)]
#[template(path = "pages/model.html")]
struct ModelPage {
    frame: Frame,
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

    fn definition_errors(&self) -> Vec<&SketchError> {
        self.errors_in(Area::Definition)
    }

    fn data_errors(&self) -> Vec<&SketchError> {
        self.errors_in(Area::Data)
    }
}

/// The parameters of the page's address.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ModelQuery {
    example: String,
}

/// The form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ModelForm {
    language: SketchLanguage,
    definition: String,
    data_language: SketchLanguage,
    data: String,
    /// `add`: adds a column family first.
    action: String,
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
    State(state): State<Arc<AdminState>>,
    visitor: Visitor,
    Query(query): Query<ModelQuery>,
) -> Result<Response, AdminError> {
    let sketch = match (&*query.example, Example::named(&query.example)) {
        ("", _) => Sketch::default(),
        (_, Some(example)) => example.sketch(),
        (id, None) => {
            let known: Vec<&str> = EXAMPLES.iter().map(|example| example.id).collect();
            let why = format!("there is no example {id:?}: use one of {}", known.join(", "));
            return Err(AdminError::not_found(why));
        }
    };
    answer(&state, &visitor, sketch, empty_family(), String::new(), query.example).await
}

/// Answers `POST /model`. It changes nothing: the sketch is stored nowhere.
pub(crate) async fn show(
    State(state): State<Arc<AdminState>>,
    visitor: Visitor,
    Form(form): Form<ModelForm>,
) -> Result<Response, AdminError> {
    let adds = form.action == "add";
    let (mut sketch, mut family) = form.divided();
    let mut refusal = String::new();
    if adds {
        match family.add_to(sketch.language, &sketch.definition) {
            Ok(definition) => (sketch.definition, family) = (definition, empty_family()),
            Err(why) => refusal = why,
        }
    }
    answer(&state, &visitor, sketch, family, refusal, String::new()).await
}

async fn answer(
    state: &AdminState,
    visitor: &Visitor,
    sketch: Sketch,
    family: NewFamily,
    refusal: String,
    example: String,
) -> Result<Response, AdminError> {
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
    let (frame, comparators) = (Frame::new(visitor, "/model", "Model"), comparators(types));
    Ok(page(&ModelPage { frame, sketch, example, model, family, refusal, comparators }))
}
