//! Vectors of 5.0, which are blobs here: `vector<float, 3>` has the bytes of three floats.

use std::collections::{BTreeMap, HashMap};

use super::system_rows::{SystemSource, SystemTables};
use super::table_statement::type_of;
use crate::import::{FamilyName, SstableFile};
use base::marshal::{PACKAGE, Types};
use base::schema::KeyspaceDef;
use base::util::limits::TYPE_NESTING_MAX;
use cql::values::TypeScope;
use sstable::SstableError;

/// The name of the type, in front of its element and its dimension.
const NAME: &str = "vector<";

/// Returns a type of CQL with blobs in the place of vectors. `None` if it has no vectors.
///
/// ```text
///   map<text, frozen<list<vector<float, 3>>>>   ->   map<text, frozen<list<blob>>>
/// ```
pub(super) fn without_vectors(cql_type: &str) -> Option<String> {
    let (mut found, mut rest) = (String::new(), cql_type);
    while let Some((before, inner)) = rest.split_once(NAME) {
        let mut depth = 1_usize;
        let end = inner.bytes().position(|byte| {
            depth = match byte {
                b'<' => depth + 1,
                b'>' => depth - 1,
                _ => depth,
            };
            depth == 0
        })?;
        let after = &inner[end + 1..];
        // A blob cannot be frozen.
        let frozen = before.strip_suffix("frozen<").zip(after.strip_prefix('>'));
        let (before, after) = frozen.unwrap_or((before, after));
        found.push_str(before);
        found.push_str("blob");
        rest = after;
    }
    found.push_str(rest);
    (found != cql_type).then_some(found)
}

/// Returns the sentence for a column, or a field of a type, whose vectors are blobs.
pub(super) fn left_out(of: &FamilyName, name: &str, cql_type: &str, instead: &str) -> String {
    format!(
        "the type {cql_type} of {name} of {of}: it is {instead}, with the bytes that the server stored for the vector"
    )
}

/// The classes of columns by their column families and names.
pub(in crate::import) type VectorClasses = HashMap<(FamilyName, String), String>;

/// Returns the classes of the columns that are vectors of values with a fixed length, in the schema of a server. Commit logs,
/// which have no types, store them without their lengths, unlike the blobs that they are here.
///
/// # Errors
///
/// If the system tables are damaged.
pub(in crate::import) fn vector_classes(
    system: &BTreeMap<FamilyName, Vec<SstableFile>>,
) -> Result<VectorClasses, SstableError> {
    let (keyspace, types) = (KeyspaceDef::new(""), Types::builtin());
    let scope = TypeScope::of_existing(&keyspace, &types);
    let tables = SystemTables { keyspace: "system_schema", found: SystemSource::Files(system) };
    let mut found = VectorClasses::new();
    for row in tables.rows("columns", 2)? {
        let [table, column] = &row.clustering[..] else { continue };
        let name = FamilyName { keyspace: row.keyspace.clone(), name: table.clone() };
        let class = row.text("type").and_then(|cql_type| vector_class(cql_type, &scope, TYPE_NESTING_MAX));
        found.extend(class.map(|class| ((name, column.clone()), class)));
    }
    Ok(found)
}

/// Returns the class of a vector with at most `levels` vectors in it.
fn vector_class(cql_type: &str, scope: &TypeScope<'_>, levels: usize) -> Option<String> {
    let (element, dimension) = cql_type.strip_prefix(NAME)?.strip_suffix('>')?.rsplit_once(',')?;
    let class = if element.starts_with(NAME) {
        vector_class(element, scope, levels.checked_sub(1)?)?
    } else {
        type_of(element, scope)?.class_name()
    };
    Some(format!("{PACKAGE}VectorType({class},{})", dimension.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_vectors_have_a_class() {
        let (keyspace, types) = (KeyspaceDef::new(""), Types::builtin());
        let scope = TypeScope::of_existing(&keyspace, &types);
        let class = |cql_type: &str| Some(vector_class(cql_type, &scope, 4)?.replace(PACKAGE, ""));
        assert_eq!(class("vector<float, 3>").as_deref(), Some("VectorType(FloatType,3)"));
        let nested = "VectorType(VectorType(LongType,2),3)";
        assert_eq!(class("vector<vector<bigint, 2>, 3>").as_deref(), Some(nested));
        assert_eq!(class("list<float>"), None);
        let nested = |levels: usize| format!("{}int{}", NAME.repeat(levels), ", 1>".repeat(levels));
        assert!(class(&nested(4)).is_some());
        assert_eq!(class(&nested(100_000)), None);
        assert_eq!(class("vector<my_type, 3>"), None);
    }

    #[test]
    fn vectors_are_blobs_wherever_they_are() {
        for (cql_type, expected) in [
            ("vector<float, 3>", Some("blob")),
            ("vector<vector<float, 2>, 3>", Some("blob")),
            ("map<text, frozen<list<vector<float, 3>>>>", Some("map<text, frozen<list<blob>>>")),
            ("list<frozen<vector<int, 2>>>", Some("list<blob>")),
            ("map<vector<int, 1>, vector<text, 2>>", Some("map<blob, blob>")),
            ("vector<float", None),
            ("frozen<my_vector>", None),
        ] {
            assert_eq!(without_vectors(cql_type).as_deref(), expected, "{cql_type}");
        }
    }
}
