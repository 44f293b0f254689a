//! add and remove_counter.

use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use crate::thrift::types;

pub(super) async fn add(call: Call<'_>) -> Result<()> {
    let key = call.args.bytes(1)?;
    let parent = types::column_parent(&mut call.args.required(2)?)?;
    let column = types::counter_column(&mut call.args.required(3)?)?;
    let consistency = call.args.consistency(4, true, call.behaviour)?;
    let keyspace = call.keyspace_to_write(&parent.column_family)?;
    call.request(&keyspace, consistency).writes().add(key, parent, column).await?;
    Ok(())
}

pub(super) async fn remove_counter(call: Call<'_>) -> Result<()> {
    let key = call.args.bytes(1)?;
    let path = types::column_path(&mut call.args.required(2)?)?;
    let consistency = call.args.consistency(3, true, call.behaviour)?;
    let keyspace = call.keyspace_to_write(&path.column_family)?;
    call.request(&keyspace, consistency).writes().remove_counter(key, path).await?;
    Ok(())
}
