//! The rows of the method table. A row says what the server does with a method: its releases, the login and time limit
//! that it needs, and the function that runs it. The interface files in `idl/` have the arguments and exceptions: a
//! method whose signature changed within the releases of its row becomes one [`Method`] for each signature.

use super::{CallFuture, Method};
use crate::thrift::args::Arg;
use crate::thrift::failure::DeclaredException;
use crate::thrift::methods::Call;
use base::compat::{Line, Span};
use base::util::meter::RequestKind;
use wire::thrift::interface::declarations;

/// The function that runs a call and writes its result.
pub(super) type Run = for<'a> fn(Call<'a>) -> CallFuture<'a>;

/// A method of one API generation. [`Method`] has the meaning of the fields.
pub(super) struct MethodRow {
    name: &'static str,
    releases: Span,
    needs_login: bool,
    kind: Option<RequestKind>,
    run: Run,
}

/// Declares a call that either login opens, or none if `before_login::is_answered`.
pub(super) const fn open(name: &'static str, releases: Span, run: Run) -> MethodRow {
    MethodRow { name, releases, needs_login: false, kind: None, run }
}

/// Declares a call that needs a login.
pub(super) const fn guarded(name: &'static str, releases: Span, run: Run) -> MethodRow {
    MethodRow { needs_login: true, ..open(name, releases, run) }
}

/// Declares a call that reads or writes data: it may be refused, find too few replicas or time out.
pub(super) const fn data(kind: RequestKind, name: &'static str, releases: Span, run: Run) -> MethodRow {
    MethodRow { kind: Some(kind), ..guarded(name, releases, run) }
}

impl MethodRow {
    /// Returns the method with each of its signatures, the oldest first.
    pub(super) fn signatures(&self) -> Vec<Method> {
        let MethodRow { name, releases, needs_login, kind, run } = *self;
        let mut methods: Vec<Method> = Vec::new();
        for declared in declarations(name.as_bytes()).iter().filter(|of| releases.has_line(of.line)) {
            let args = declared.arguments.iter();
            let args =
                args.map(|arg| Arg { id: arg.id, name: arg.name, ttype: arg.declared.ttype() }).collect();
            let throws = declared.throws.iter();
            let throws = throws.map(|thrown| (thrown.id, DeclaredException::of(&thrown.declared))).collect();
            let since = Span::since_line(declared.line);
            let method = Method { name, releases: releases.and(since), args, throws, needs_login, kind, run };
            match methods.last_mut() {
                Some(last) if last.args == method.args && last.throws == method.throws => continue,
                Some(last) => last.releases = last.releases.and(Span::lines(Line(0, 0), declared.line)),
                None => {}
            }
            methods.push(method);
        }
        assert!(!methods.is_empty(), "no interface file has {name} in the releases of its row");
        methods
    }
}
