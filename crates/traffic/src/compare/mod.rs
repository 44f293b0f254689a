//! Compares two replies to the same call.
//!
//! Replies are equal if a client cannot tell them apart, or if all their differences are by a [`Rule`]: things that no
//! two servers have in common, such as the ids of schemas. A rule is never silent: the comparison lists it.
//!
//! ```text
//!   result     <> other result          data        the first place where they differ
//!   result     <> exception             exception
//!   exception  <> other exception       exception
//!   exception  <> same, other text      text
//!   any answer <> none                  exception
//! ```

mod context;
mod definitions;
mod made_value;
mod native;
mod rule;
mod sent_values;
mod shown;
mod texts;
mod thrift;
mod tree;

pub(crate) use context::{Context, RunSpan, ServerMade};
pub(crate) use made_value::MadeValue;
pub(crate) use rule::Rule;
pub(crate) use sent_values::SentValues;
pub(crate) use shown::shown;

use super::call::{Answer, Call};
use super::report::{CallDifference, CallOutcome, DifferenceKind};

/// The result of comparing two replies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Comparison {
    /// The rules that were applied, each once.
    pub rules: Vec<Rule>,
    pub outcome: Compare,
}

/// The result of a comparison of two replies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Compare {
    /// Equal, if there are rules by them.
    #[default]
    Equal,
    Differs(FoundDifference),
    NotCompared(&'static str),
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundDifference {
    pub kind: DifferenceKind,
    /// The place in the reply; empty for the whole reply.
    pub path: String,
    pub recorded: Option<String>,
    pub candidate: Option<String>,
}

/// Why a call is not compared.
pub(crate) const NO_RECORDED_ANSWER: &str = "the recording has no answer";

impl FoundDifference {
    fn data(path: &str, recorded: Option<String>, candidate: Option<String>) -> FoundDifference {
        FoundDifference { kind: DifferenceKind::Data, path: path.to_owned(), recorded, candidate }
    }

    fn whole(kind: DifferenceKind, recorded: String, candidate: String) -> FoundDifference {
        FoundDifference { kind, path: String::new(), recorded: Some(recorded), candidate: Some(candidate) }
    }
}

impl Comparison {
    /// Returns the names of the rules.
    pub(crate) fn rule_names(&self) -> Vec<&'static str> {
        self.rules.iter().map(|rule| rule.name()).collect()
    }

    pub(crate) fn differs(&self) -> bool {
        matches!(self.outcome, Compare::Differs(_))
    }
}

impl Compare {
    /// Returns the outcome as reports have it.
    pub(crate) fn outcome(&self) -> CallOutcome<'_> {
        match self {
            Compare::Equal => CallOutcome::Equal,
            Compare::NotCompared(reason) => CallOutcome::NotCompared(reason),
            Compare::Differs(found) => CallOutcome::Differs(CallDifference {
                kind: found.kind,
                path: &found.path,
                recorded: found.recorded.as_deref(),
                candidate: found.candidate.as_deref(),
            }),
        }
    }
}

/// Compares the replies to a call. `None` means no reply.
pub(crate) fn compare(
    call: &Call,
    recorded: Option<&Answer>,
    candidate: Option<&Answer>,
    context: &Context<'_>,
) -> Comparison {
    let mut rules = Vec::new();
    let found = match (recorded, candidate) {
        _ if call.is_oneway() => None,
        (None, _) => {
            return Comparison { rules, outcome: Compare::NotCompared(NO_RECORDED_ANSWER) };
        }
        (Some(Answer::Thrift(left)), Some(Answer::Thrift(right))) => {
            thrift::difference(call, left, right, context, &mut rules)
        }
        (Some(Answer::Native(left)), Some(Answer::Native(right))) => {
            native::difference(call.keyspace.as_deref(), left, right, context, &mut rules)
        }
        (Some(recorded), _) => Some(FoundDifference {
            kind: DifferenceKind::Exception,
            path: String::new(),
            recorded: Some(shown_answer(recorded)),
            candidate: None,
        }),
    };
    rules.sort_unstable();
    rules.dedup();
    Comparison { rules, outcome: found.map_or(Compare::Equal, Compare::Differs) }
}

/// Returns an answer as text, cut if it is long.
pub(crate) fn shown_answer(answer: &Answer) -> String {
    match answer {
        Answer::Thrift(reply) => thrift::shown_reply(reply),
        Answer::Native(reply) => native::shown_reply(reply),
    }
}
