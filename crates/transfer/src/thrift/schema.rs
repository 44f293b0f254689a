//! Reads the schema of a Thrift server.

use base::compat::features::{CfField, FieldKind};
use base::marshal::Types;
use base::partitioner;
use base::partitioner::PartitionerRef;
use base::schema::{IndexKind, KeyspaceDef, Setting, is_system_keyspace};
use db::{CfRequest, ColumnRequest, KsRequest, described_keyspace};

use super::pages::ThriftPages;
use super::value::{Fields, ThriftValue};

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
    let mut requests: Vec<KsRequest> = if pages.address.is_keyed {
        old_keyspaces(pages, keyspace.filter(|_| pages.address.login.is_some())).await?
    } else {
        let keyspaces = pages.call(None, "describe_keyspaces", Fields::default()).await?.into_structs()?;
        keyspaces.into_iter().map(keyspace_of).collect::<Result<_, _>>()?
    };
    requests.retain(|request| !is_left_out(&request.name));
    let mut described = Vec::new();
    for request in requests {
        described.push(
            described_keyspace(&request, types)
                .map_err(|error| format!("its keyspace {} is not supported: {error}", request.name))?,
        );
    }
    Ok(described)
}

/// Returns the partitioner; `None` if it is unknown.
pub async fn partitioner(pages: &ThriftPages) -> Result<Option<PartitionerRef>, String> {
    if pages.address.is_keyed {
        // Up to 0.6 there is no describe_partitioner.
        return Ok(None);
    }
    let class = pages.call(None, "describe_partitioner", Fields::default()).await?.into_text()?;
    Ok(partitioner::resolve(&class))
}

/// Returns the keyspaces of 0.6: their names, and the result of describe_keyspace for each.
async fn old_keyspaces(pages: &ThriftPages, keyspace: Option<&str>) -> Result<Vec<KsRequest>, String> {
    let names = pages.call(keyspace, "describe_keyspaces", Fields::default()).await?.into_list()?;
    let mut requests = Vec::new();
    for name in names {
        let name = name.into_text()?;
        if is_left_out(&name) {
            continue;
        }
        let arguments = Fields(vec![(1, name.as_str().into())]);
        let families = pages.call(keyspace, "describe_keyspace", arguments).await?.into_pairs()?;
        requests.push(old_keyspace(name, families)?);
    }
    Ok(requests)
}

fn old_keyspace(name: String, families: Vec<(String, ThriftValue)>) -> Result<KsRequest, String> {
    let mut column_families = Vec::new();
    for (family, properties) in families {
        let mut properties = properties.into_texts()?;
        column_families.push(CfRequest {
            keyspace: name.clone(),
            name: family,
            column_type: properties.remove("Type"),
            comparator_type: properties.remove("CompareWith"),
            subcomparator_type: properties.remove("CompareSubcolumnsWith"),
            ..CfRequest::default()
        });
    }
    Ok(KsRequest {
        name,
        strategy_class: "SimpleStrategy".to_owned(),
        // 0.6 does not return the replication factor.
        replication_factor: Some(1),
        column_families,
        ..KsRequest::default()
    })
}

fn required(fields: &mut Fields, id: i16, name: &str) -> Result<String, String> {
    fields.text(id).ok_or_else(|| format!("the reply has a definition without {name}"))
}

/// Returns a KsDef.
fn keyspace_of(mut keyspace: Fields) -> Result<KsRequest, String> {
    Ok(KsRequest {
        name: required(&mut keyspace, 1, "a name")?,
        strategy_class: required(&mut keyspace, 2, "a strategy_class")?,
        strategy_options: keyspace.texts(3).unwrap_or_default(),
        replication_factor: keyspace.int(4),
        durable_writes: keyspace.bool(6),
        column_families: keyspace.structs(5)?.into_iter().map(family_of).collect::<Result<_, _>>()?,
    })
}

/// Returns a CfDef.
fn family_of(mut family: Fields) -> Result<CfRequest, String> {
    let default = family.text(15);
    let mut columns =
        family.structs(13)?.into_iter().map(column_of).collect::<Result<Vec<ColumnRequest>, String>>()?;
    if columns.iter().any(|column| column.name.is_empty()) {
        // 3.x describes how it stores a super column family: a map without a name, and the value of its entries.
        columns.retain(|column| {
            let is_value = column.name == "value" && Some(&column.validation_class) == default.as_ref();
            !column.name.is_empty() && !is_value
        });
    }
    Ok(CfRequest {
        keyspace: required(&mut family, 1, "a keyspace")?,
        name: required(&mut family, 2, "a name")?,
        column_type: family.text(3),
        comparator_type: family.text(5),
        subcomparator_type: family.text(6),
        comment: family.text(8),
        columns,
        gc_grace_seconds: family.int(14),
        default_validation_class: default,
        id: family.int(16),
        key_validation_class: family.text(26),
        key_alias: family.bytes(28),
        settings: family.0.into_iter().filter_map(|(id, value)| setting_of(id, value)).collect(),
    })
}

/// Returns a ColumnDef.
fn column_of(mut column: Fields) -> Result<ColumnRequest, String> {
    Ok(ColumnRequest {
        name: column.bytes(1).ok_or("the reply has a definition without a name")?,
        validation_class: required(&mut column, 2, "a validation_class")?,
        index_kind: column.int(3).and_then(|kind| match kind {
            0 => Some(IndexKind::Keys),
            1 => Some(IndexKind::Custom),
            2 => Some(IndexKind::Composites),
            _ => None,
        }),
        index_name: column.text(4),
        index_options: column.texts(5),
    })
}

/// Returns a field of a CfDef as a setting that is stored without effect, if it is one.
fn setting_of(id: i16, value: ThriftValue) -> Option<(String, Setting)> {
    let CfField { name, kind, .. } = Setting::field(id)?;
    let setting = match (kind, value) {
        (FieldKind::Bool, ThriftValue::Bool(value)) => Setting::Bool(value),
        (FieldKind::Int, ThriftValue::Int(number)) => Setting::Int(number),
        (FieldKind::Double, ThriftValue::Double(number)) => Setting::Double(number),
        (FieldKind::Text, value) => Setting::Text(value.into_text().ok()?),
        (FieldKind::Map, value) => Setting::Map(value.into_texts().ok()?),
        _ => return None,
    };
    Some(((*name).to_owned(), setting))
}
