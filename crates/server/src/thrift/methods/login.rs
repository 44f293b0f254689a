//! login of 0.6.

use super::Call;
use crate::thrift::failure::Result;
use crate::thrift::types;

pub(super) async fn login(call: Call<'_>) -> Result<()> {
    let keyspace = call.args.bytes(1)?;
    let credentials = types::credentials(&mut call.args.required(2)?)?;
    let logins = call.database.logins();
    let login = logins.login(&keyspace, &credentials);
    call.session.old_user = logins.guarded(call.session.address, &credentials, login).await?;
    call.session.is_logged_in = true;
    Ok(())
}
