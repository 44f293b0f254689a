//! login of 0.6.

use super::{Call, CallFuture, Method, arg};
use crate::thrift::failure::DeclaredException;
use crate::thrift::types;
use base::compat::only;
use base::util::Release::V0_6;
use wire::thrift::TType;

pub(super) const LOGIN: Method = Method {
    name: "login",
    releases: only(V0_6),
    args: &[arg(1, "keyspace", TType::String), arg(2, "auth_request", TType::Struct)],
    throws: &[(1, DeclaredException::Authentication), (2, DeclaredException::Authorization)],
    needs_login: false,
    kind: None,
    run: login,
};

fn login(call: Call<'_>) -> CallFuture<'_> {
    Box::pin(async move {
        let keyspace = call.args.bytes(1)?;
        let credentials = types::credentials(&mut call.args.required(2)?)?;
        let logins = call.database.logins();
        let login = logins.login(&keyspace, &credentials);
        call.session.old_user = logins.guarded(call.session.address, &credentials, login).await?;
        call.session.is_logged_in = true;
        Ok(())
    })
}
