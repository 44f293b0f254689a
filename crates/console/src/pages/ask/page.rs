//! The page: its handlers and its template.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::call::{LEVELS, METHODS, call_of, follow_schema, level, run_call};
use super::cells::{CellRow, cell_rows};
use super::examples::{AskExample, examples};
use super::explanation::{Explanation, explain};
use super::form::{AskForm, View, query};
use super::recorder::RequestRecorder;
use super::reply::{failure, shown_reply};
use super::result::{Field, ShownResult};
use super::statement::{AskedStatement, StatementAnswer};
use crate::change_log::LoggedChange;
use crate::choices::Choices;
use crate::extract::{Form, Query};
use crate::failure::{AdminError, Result, forbidden};
use crate::page::{PageFrame, page_with};
use crate::state::{Admin, AdminState};
use crate::visitor::Visitor;
use base::compat::features::{ConsistencyLevel, consistency_of};
use base::util::is_invisible;
use db::Access;
use traffic::report::{Snippet, driver_snippets};

/// Explains how to allow changes, for pages that refuse them.
pub(crate) const CHANGES_ARE_OFF: &str = "changes are off: this console only reads. Restart the server with --admin-changes on to \
     allow them; they are on by default with --ephemeral";

/// The answer to a question.
#[derive(Default)]
pub(super) struct Answer {
    pub result: Option<ShownResult>,
    done: String,
    would_write: String,
    cells: Vec<CellRow>,
    cells_read: usize,
    explanation: Option<Explanation>,
    snippets: Vec<Snippet>,
}

impl Answer {
    fn shown_cells(&self) -> usize {
        self.cells.iter().map(|row| row.cells.len()).sum()
    }
}

#[derive(Template)]
#[template(path = "pages/ask.html")]
struct AskPage {
    frame: PageFrame,
    form: AskForm,
    choices: Choices,
    /// Questions to begin with, if nothing was asked.
    examples: Vec<AskExample>,
    may_change: bool,
    /// Whether a cluster runs statements.
    is_gateway: bool,
    failure: String,
    answer: Option<Answer>,
}

impl AskPage {
    fn has(&self, methods: &[&str]) -> bool {
        methods.contains(&self.form.method())
    }

    fn reads_one(&self) -> bool {
        self.has(&["get"])
    }

    fn reads_slices(&self) -> bool {
        !self.reads_one()
    }

    fn reads_by_key(&self) -> bool {
        self.has(&["get", "get_slice", "multiget_slice", "get_count", "multiget_count"])
    }

    fn reads_ranges(&self) -> bool {
        self.has(&["get_range_slices"])
    }

    fn has_filter(&self) -> bool {
        self.has(&["get_range_slices", "get_indexed_slices"])
    }

    fn levels(&self) -> impl Iterator<Item = &'static str> {
        LEVELS.into_iter().map(|(name, _)| name).filter(|name| *name != "ANY")
    }

    fn methods(&self) -> impl Iterator<Item = &'static str> {
        METHODS.into_iter()
    }

    /// Returns the path of the empty form of a method, or of another language.
    fn form_path(&self, with: &str, method: &str) -> String {
        let fields = [
            ("with", with),
            ("method", method),
            ("keyspace", &*self.form.keyspace),
            ("family", &*self.form.family),
            ("keys", &*self.form.keys),
        ];
        // The form is not answered before it is sent.
        let fields: Vec<_> = fields.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        format!("/ask?{}&view=form", query(&fields))
    }

    fn visible(&self, text: &str) -> String {
        visible_lines(text)
    }

    fn shows_table(&self) -> bool {
        self.form.view == View::Table || self.form.view == View::Form
    }

    fn shows_cells(&self) -> bool {
        self.form.view == View::Cells
    }

    fn shows_json(&self) -> bool {
        self.form.view == View::Json
    }
}

/// Returns lines of text with escapes for characters that cannot be seen, besides tabs and the ends of lines.
pub(crate) fn visible_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => out.push(letter),
            letter if is_invisible(letter) => out.extend(letter.escape_unicode()),
            letter => out.push(letter),
        }
    }
    out
}

/// Answers `GET /ask`, which changes nothing.
pub(crate) async fn answer(State(state): Admin, visitor: Visitor, Query(form): Query<AskForm>) -> Response {
    let mut answered = Ok(None);
    if form.is_asked() && form.view != View::Form {
        answered = ask(&state, &visitor, &form).await.map(Some);
    }
    show(&state, &visitor, form, answered).await
}

/// Answers `POST /ask`, which may run statements that change data or the schema.
pub(crate) async fn answer_form(
    State(state): Admin,
    visitor: Visitor,
    Form(form): Form<AskForm>,
) -> Response {
    let answered = change(&state, &visitor, &form).await.map(Some);
    show(&state, &visitor, form, answered).await
}

async fn show(
    state: &AdminState,
    visitor: &Visitor,
    form: AskForm,
    answered: Result<Option<Answer>>,
) -> Response {
    let (answer, failure) = match answered {
        Ok(answer) => (answer, None),
        Err(error) => (None, Some(error)),
    };
    let is_new = answer.is_none() && failure.is_none();
    let examples = if is_new { examples(state, visitor, &form).await } else { Vec::new() };
    let status = failure.as_ref().map(|failure| failure.status);
    let shown = AskPage {
        frame: PageFrame::new(visitor, "/ask", "Ask"),
        choices: Choices::of(&visitor.schema, &form.keyspace, &form.family),
        form,
        examples,
        may_change: visitor.may_change,
        is_gateway: visitor.is_gateway,
        failure: failure.map_or(String::new(), |failure| failure.why),
        answer,
    };
    page_with(&shown, status)
}

/// Returns the consistency level of a form.
fn level_of(state: &AdminState, form: &AskForm) -> Result<ConsistencyLevel> {
    let release = state.console.settings.compat.after_set_keyspace;
    let found = consistency_of(level(&form.level)?, release);
    found.ok_or_else(|| AdminError::invalid(format!("{release} has no level {}", form.level)))
}

pub(super) async fn ask(state: &AdminState, visitor: &Visitor, form: &AskForm) -> Result<Answer> {
    if form.is_thrift() {
        return ask_thrift(state, visitor, form).await;
    }
    let asked = AskedStatement { state, visitor, form, level: level_of(state, form)? };
    let (_, only_reads) = asked.target()?;
    if !only_reads && !visitor.may_change {
        return forbidden(format!("only SELECT, DESCRIBE and USE run here: {CHANGES_ARE_OFF}"));
    }
    let recorder = RequestRecorder::new(&state.database);
    let answer = asked.read(&recorder).await?;
    Ok(with_explanation(state, form, &recorder, answer))
}

/// Adds the cells that were read, the explanation and the code to the answer to a statement.
fn with_explanation(
    state: &AdminState,
    form: &AskForm,
    recorder: &RequestRecorder,
    answer: StatementAnswer,
) -> Answer {
    let recorded = recorder.recorded();
    let release = state.console.settings.compat.after_set_keyspace;
    let rows = answer.result.as_ref().map_or(0, |result| result.row_count);
    let is_explained = recorded.requests_made > 0 || answer.path.is_some();
    Answer {
        cells: cell_rows(&state.database, &recorded.cells),
        cells_read: recorded.cells_read,
        explanation: is_explained.then(|| explain(&state.database, release, &recorded, Some(&answer), rows)),
        snippets: snippets_of(form),
        result: answer.result,
        done: answer.done,
        would_write: answer.would_write,
    }
}

fn snippets_of(form: &AskForm) -> Vec<Snippet> {
    let keyspace = (!form.keyspace.is_empty()).then_some(&*form.keyspace);
    if form.is_cql2() { Vec::new() } else { driver_snippets(keyspace, &form.cql) }
}

async fn ask_thrift(state: &AdminState, visitor: &Visitor, form: &AskForm) -> Result<Answer> {
    let release = state.console.settings.compat.after_set_keyspace;
    let (keyspace, family) = (form.keyspace.as_bytes(), form.family.as_bytes());
    visitor.user.check(Access::Read { keyspace, family }, release).map_err(|refusal| {
        // The error of Thrift is an InvalidRequest.
        AdminError::forbidden(refusal.to_string())
    })?;
    follow_schema(state, &form.keyspace, &form.family).await?;
    let call = call_of(&state.database, form)?;
    let recorder = RequestRecorder::new(&state.database);
    let reply = run_call(state, visitor, recorder.database.clone(), &call).await?;
    let recorded = recorder.recorded();
    if let Some(failure) = failure(&reply) {
        return Err(failure);
    }
    let result = shown_reply(&state.database, &call, &reply);
    let explanation = explain(&state.database, release, &recorded, None, result.row_count);
    Ok(Answer {
        cells: cell_rows(&state.database, &recorded.cells),
        cells_read: recorded.cells_read,
        explanation: Some(explanation),
        snippets: call.snippets(),
        result: Some(result),
        ..Answer::default()
    })
}

async fn change(state: &AdminState, visitor: &Visitor, form: &AskForm) -> Result<Answer> {
    if form.is_thrift() || !form.is_asked() {
        return ask(state, visitor, form).await;
    }
    let asked = AskedStatement { state, visitor, form, level: level_of(state, form)? };
    let (target, only_reads) = asked.target()?;
    if only_reads || !visitor.may_change {
        return ask(state, visitor, form).await;
    }
    let answer = asked.change().await?;
    let session = (!form.keyspace.is_empty()).then_some(&*form.keyspace);
    let keyspace = target.keyspace.as_deref().or(session.filter(|_| target.table.is_some()));
    LoggedChange { kind: target.kind, keyspace, table: target.table.as_deref() }.log(visitor);
    Ok(Answer { result: answer.result, done: answer.done, snippets: snippets_of(form), ..Answer::default() })
}
