//! executeQuery of 0.3, whose language has only its name in common with the CQL of 0.8 and later.

use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use wire::thrift::TType;

/// The CqlResult_t of a failed query. The call declares no exception: 0.3 returned errors in the result, as a code
/// other than 0 and a text.
const NOT_SPOKEN: (i32, &str) =
    (1, "this server does not speak the query language of 0.3: use the calls of column families");

pub(super) async fn execute_query(mut call: Call<'_>) -> Result<()> {
    let (code, text) = NOT_SPOKEN;
    let mut writer = call.writer();
    writer.field_struct(0);
    writer.field_i32(1, code);
    writer.field_string(2, text.as_bytes());
    writer.field_list(3, TType::Map, 0);
    writer.stop();
    Ok(())
}
