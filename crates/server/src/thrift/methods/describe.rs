//! The describe calls of 0.4 to 0.6.

use super::Call;
use super::modern::describe as modern;
use crate::thrift::failure::Result;
use base::compat::Behaviour;
use base::compat::features::api_version;
use db::TokenRange;
use wire::thrift::{TType, Writer};

/// A client whose calls so far do not show its release may be a 0.7 client: the reply contains both results, and the
/// client uses the one whose type it knows.
pub(super) async fn describe_keyspaces(mut call: Call<'_>) -> Result<()> {
    call.database.stored_schema().refresh_if_possible().await;
    if call.session.is_of_either() {
        modern::write_keyspaces(&mut call);
    }
    write_old_names(&mut call);
    Ok(())
}

/// Writes the names of all keyspaces, as 0.6 does.
pub(super) fn write_old_names(call: &mut Call<'_>) {
    let behaviour = Behaviour::of(call.compat.with_keyspace);
    let names = call.database.describe(behaviour).keyspace_names();
    let mut writer = call.writer();
    writer.field_set(0, TType::String, names.len());
    for name in &names {
        writer.bytes(name.as_bytes());
    }
}

pub(super) async fn describe_keyspace(mut call: Call<'_>) -> Result<()> {
    let keyspace = call.args.bytes(1)?;
    call.database.stored_schema().refresh_if_possible().await;
    if call.session.is_of_either() {
        modern::write_keyspace(&mut call, &keyspace)?;
    }
    write_old_keyspace(&mut call, &keyspace)?;
    Ok(())
}

/// Writes a keyspace as 0.4 to 0.6 do.
pub(super) fn write_old_keyspace(call: &mut Call<'_>, keyspace: &[u8]) -> Result<(), db::Error> {
    // 0.6 answers an unknown keyspace with an internal error; the exception that its interface declares is correct.
    let behaviour = Behaviour::of(call.compat.with_keyspace);
    let families = call.database.describe(behaviour).describe_keyspace(keyspace);
    let families = families.ok_or(db::Error::NotFound)?;
    let mut writer = call.writer();
    writer.field_map(0, TType::String, TType::Map, families.len());
    for (name, description) in &families {
        writer.bytes(name.as_bytes());
        writer.map_begin(TType::String, TType::String, description.len());
        for (property, value) in description {
            writer.bytes(property.as_bytes());
            writer.bytes(value.as_bytes());
        }
    }
    Ok(())
}

pub(super) async fn describe_cluster_name(mut call: Call<'_>) -> Result<()> {
    let name = call.database.cluster_name().to_owned();
    call.writer().field_string(0, name.as_bytes());
    Ok(())
}

pub(super) async fn describe_version(mut call: Call<'_>) -> Result<()> {
    let version = api_version(call.behaviour.release);
    call.writer().field_string(0, version.as_bytes());
    Ok(())
}

pub(super) async fn describe_partitioner(mut call: Call<'_>) -> Result<()> {
    let name = call.database.partitioner().class_name();
    call.writer().field_string(0, name.as_bytes());
    Ok(())
}

pub(super) async fn describe_ring(mut call: Call<'_>) -> Result<()> {
    let keyspace = call.args.bytes(1)?;
    let describe = call.database.describe(call.behaviour);
    let ring = if call.may_see_keyspaces() { describe.describe_ring(&keyspace)? } else { describe.ring() };
    write_ring(&mut call, &ring);
    Ok(())
}

/// Writes the ring with the details of the release: clients of 1.0.1 and later read them without checking that they
/// are present.
fn write_ring(call: &mut Call<'_>, ring: &[TokenRange]) {
    let rules = &call.behaviour.wire;
    let mut writer = call.writer();
    writer.field_list(0, TType::Struct, ring.len());
    for range in ring {
        writer.field_string(1, range.start_token.as_bytes());
        writer.field_string(2, range.end_token.as_bytes());
        write_endpoints(&mut writer, 3, &range.endpoints);
        if rules.ring_has_client_addresses {
            write_endpoints(&mut writer, 4, &range.endpoints);
        }
        if rules.ring_has_data_centres {
            writer.field_list(5, TType::Struct, range.endpoints.len());
            for endpoint in &range.endpoints {
                writer.field_string(1, endpoint.as_bytes());
                // SimpleSnitch reports these for every node.
                writer.field_string(2, b"datacenter1");
                writer.field_string(3, b"rack1");
                writer.stop();
            }
        }
        writer.stop();
    }
}

fn write_endpoints(writer: &mut Writer<'_>, id: i16, endpoints: &[String]) {
    writer.field_list(id, TType::String, endpoints.len());
    for endpoint in endpoints {
        writer.bytes(endpoint.as_bytes());
    }
}

pub(super) async fn describe_splits(mut call: Call<'_>) -> Result<()> {
    let (start, end) = (call.args.bytes(1)?, call.args.bytes(2)?);
    let splits =
        call.database.describe(call.behaviour).describe_splits(&start, &end, call.args.i32(3)?).await?;
    call.write_texts(&splits);
    Ok(())
}
