//! get_key_range of 0.3.

use super::i32_or;
use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use base::compat::features::ConsistencyLevel;

pub(super) async fn get_key_range(mut call: Call<'_>) -> Result<()> {
    let table = call.args.bytes(1)?;
    let bound = |id: i16| call.args.optional(id).map(|mut reader| reader.bytes()).transpose();
    let (start, finish) = (bound(2)?.unwrap_or_default(), bound(3)?.unwrap_or_default());
    let count = i32_or(&call, 4, 1000)?;
    let keys =
        call.request(&table, ConsistencyLevel::One).ranges().get_table_keys(start, finish, count).await?;
    call.write_texts(&keys);
    Ok(())
}
