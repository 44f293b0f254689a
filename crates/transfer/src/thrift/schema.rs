//! Reads the schema of a Thrift server.

use base::marshal::Types;
use base::partitioner;
use base::partitioner::PartitionerRef;
use base::schema::{KeyspaceDef, is_system_keyspace};
use db::{CfRequest, KsRequest, described_keyspace};
use server::thrift::replies;
use server::thrift::replies::DescribedFamilies;
use wire::thrift::TType;

use super::pages::ThriftPages;

/// The keyspace in which DataStax's OpsCenter stores its measurements of the old cluster.
const OPS_CENTER: &str = "OpsCenter";

/// Returns whether a keyspace is not copied.
fn is_left_out(keyspace: &str) -> bool {
    is_system_keyspace(keyspace) || keyspace == OPS_CENTER
}

/// Returns all keyspaces except the server's own.
///
/// A thriftstore server describes nothing before the login. Up to 0.6 a login is for a keyspace: `keyspace`.
pub async fn keyspaces(
    pages: &ThriftPages,
    types: &Types,
    keyspace: Option<&str>,
) -> Result<Vec<KeyspaceDef>, String> {
    let requests = if pages.place.is_keyed {
        old_keyspaces(pages, keyspace.filter(|_| pages.place.login.is_some())).await?
    } else {
        pages.call(None, "describe_keyspaces", |_| (), TType::List, replies::keyspaces).await?
    };
    let own = |request: &KsRequest| !is_left_out(&request.name);
    let described = |request: KsRequest| {
        described_keyspace(&request, types)
            .map_err(|error| format!("its keyspace {} is not supported: {error}", request.name))
    };
    requests.into_iter().filter(own).map(described).collect()
}

/// Returns the partitioner; `None` if it is unknown.
pub async fn partitioner(pages: &ThriftPages) -> Result<Option<PartitionerRef>, String> {
    if pages.place.is_keyed {
        // Up to 0.6 there is no describe_partitioner.
        return Ok(None);
    }
    let name = |reader: &mut wire::thrift::Reader<'_>| {
        reader
            .bytes()
            .map(|name| String::from_utf8_lossy(&name).into_owned())
            .map_err(|error| error.to_string())
    };
    let class = pages.call(None, "describe_partitioner", |_| (), TType::String, name).await?;
    Ok(partitioner::resolve(&class))
}

/// Returns the keyspaces of 0.6: their names, and the result of describe_keyspace for each.
async fn old_keyspaces(pages: &ThriftPages, keyspace: Option<&str>) -> Result<Vec<KsRequest>, String> {
    let names = pages.call(keyspace, "describe_keyspaces", |_| (), TType::Set, replies::names).await?;
    let mut requests = Vec::new();
    for name in names {
        if is_left_out(&name) {
            continue;
        }
        let write = |writer: &mut wire::thrift::Writer<'_>| writer.field_string(1, name.as_bytes());
        let families =
            pages.call(keyspace, "describe_keyspace", write, TType::Map, replies::families).await?;
        requests.push(old_keyspace(name, families));
    }
    Ok(requests)
}

fn old_keyspace(name: String, families: DescribedFamilies) -> KsRequest {
    let family = |(family, mut properties): (String, std::collections::BTreeMap<String, String>)| CfRequest {
        keyspace: name.clone(),
        name: family,
        column_type: properties.remove("Type"),
        comparator_type: properties.remove("CompareWith"),
        subcomparator_type: properties.remove("CompareSubcolumnsWith"),
        ..CfRequest::default()
    };
    let column_families = families.into_iter().map(family).collect();
    KsRequest {
        name: name.clone(),
        strategy_class: "SimpleStrategy".to_owned(),
        // 0.6 does not return the replication factor.
        replication_factor: Some(1),
        column_families,
        ..KsRequest::default()
    }
}
