//! A model as a storage-conf.xml of 0.4 to 0.6.
//!
//! The file has comparators and nothing else about types. Each column family that is written is read again, so one whose
//! name or comparator the file cannot hold is reported and left out.

use super::script::Script;
use super::sketch::OpenSketch;
use base::marshal::{BytesType, PACKAGE, Types};
use base::schema::{Catalog, CfDef, KeyspaceDef};

/// The comparators that the sample files of 0.4 to 0.6 list.
const COMPARATORS: [&str; 6] =
    ["AsciiType", "BytesType", "LexicalUUIDType", "LongType", "TimeUUIDType", "UTF8Type"];
/// The partitioners of 0.4 to 0.6.
const PARTITIONERS: [&str; 3] =
    ["RandomPartitioner", "OrderPreservingPartitioner", "CollatingOrderPreservingPartitioner"];
const PARTITIONER_PACKAGE: &str = "org.apache.cassandra.dht.";
/// gc_grace of column families of a file without GCGraceSeconds.
const GC_GRACE_S: i32 = 864_000;

/// Returns the model as a storage-conf.xml.
pub(super) fn storage_conf_text(open: &OpenSketch, catalog: &Catalog) -> Script {
    let mut script = Script::new("storage-conf", "storage-conf.xml");
    let class = open.database.partitioner().class_name();
    let partitioner = class.strip_prefix(PARTITIONER_PACKAGE).unwrap_or(class);
    if !PARTITIONERS.contains(&partitioner) {
        script.lose(format!("{partitioner}: 0.4 to 0.6 had {}.", PARTITIONERS.join(", ")));
    }
    let partitioner = escaped(partitioner);
    let mut text = format!("<Storage>\n  <Partitioner>{partitioner}</Partitioner>\n  <Keyspaces>\n");
    for keyspace in catalog.keyspaces.values() {
        match keyspace_text(keyspace, open.database.types(), &mut script) {
            Some(keyspace) => text.push_str(&keyspace),
            None => script.lose(format!("keyspace {}: the file cannot hold its name.", keyspace.name)),
        }
    }
    text.push_str("  </Keyspaces>\n</Storage>\n");
    script.text = text;
    script
}

fn keyspace_text(keyspace: &KeyspaceDef, types: &Types, script: &mut Script) -> Option<String> {
    let mut text = format!("    <Keyspace Name=\"{}\">\n", escaped(&keyspace.name));
    let empty = config::parse(&format!("{text}</Keyspace>"), "", types).ok()?;
    empty.catalog.keyspace(&keyspace.name)?;
    for user_type in keyspace.user_types.keys() {
        script.lose(format!("type {user_type}: user-defined types came with 2.1."));
    }
    for cf in keyspace.column_families.values() {
        let family = family_text(cf);
        match refusal(cf, &family, types) {
            Some(why) => script.lose(format!("{}: left out. {why}", cf.name)),
            None => {
                lose_details(cf, script);
                text.push_str(&family);
            }
        }
    }
    text.push_str("    </Keyspace>\n");
    Some(text)
}

fn family_text(cf: &CfDef) -> String {
    let mut text = format!(
        "      <ColumnFamily Name=\"{}\" CompareWith=\"{}\"",
        escaped(&cf.name),
        class(&*cf.comparator)
    );
    if let Some(inner) = cf.subcomparator() {
        text.push_str(" ColumnType=\"Super\"\n        CompareSubcolumnsWith=\"");
        text.push_str(&class(&**inner));
        text.push('"');
    }
    match &cf.comment {
        Some(comment) if !comment.is_empty() => {
            let comment = escaped(comment);
            text.push_str(&format!(">\n        <Comment>{comment}</Comment>\n      </ColumnFamily>\n"));
        }
        _ => text.push_str("/>\n"),
    }
    text
}

/// Returns why a column family cannot be defined in the file.
fn refusal(cf: &CfDef, text: &str, types: &Types) -> Option<String> {
    if cf.table.is_some() {
        return Some(
            "A CQL table has several columns in a row, which its comparator does not say.".to_owned(),
        );
    }
    if cf.is_counter() {
        return Some("Counters came with 0.8.".to_owned());
    }
    let text = format!("<Keyspace Name=\"K\">{text}</Keyspace>");
    let read = config::parse(&text, "", types);
    let read = match &read {
        Ok(config) => config.catalog.column_family("K", &cf.name),
        Err(errors) => {
            return Some(errors.errors.iter().map(|error| format!("{error}.")).collect::<Vec<_>>().join(" "));
        }
    };
    let is_same = read.is_some_and(|read| compared(read) == compared(cf));
    (!is_same).then(|| "The file cannot hold its name or its comment.".to_owned())
}

/// Returns the file's definition of a column family.
pub(super) fn compared(cf: &CfDef) -> (String, String, Option<String>, Option<String>) {
    let inner = cf.subcomparator().map(|inner| inner.class_name().to_owned());
    let comment = cf.comment.clone().filter(|comment| !comment.is_empty());
    (cf.name.clone(), cf.comparator.class_name().to_owned(), inner, comment)
}

/// Reports the properties of a column family that are not comparators.
fn lose_details(cf: &CfDef, script: &mut Script) {
    let name = &cf.name;
    let bytes = BytesType;
    let is_typed = |class: &str| class != base::marshal::AbstractType::class_name(&bytes);
    let types_of_values = is_typed(cf.default_validator.class_name()) || !cf.column_metadata.is_empty();
    let comparators = std::iter::once(&cf.comparator).chain(cf.subcomparator());
    for comparator in comparators.map(|comparator| class(&**comparator)) {
        if !COMPARATORS.contains(&&*comparator) {
            script.lose(format!("{name}: {comparator} is not among the comparators of 0.4 to 0.6."));
        }
    }
    if types_of_values {
        script.lose(format!("{name}: types of values came with 0.7. The application has to know them."));
    }
    if cf.indexed_columns().next().is_some() {
        script.lose(format!(
            "{name}: indexes came with 0.7. The application has to write a column family for each."
        ));
    }
    if cf.key_validator.as_ref().is_some_and(|validator| is_typed(validator.class_name())) {
        script.lose(format!("{name}: the type of row keys came with 0.8. Keys of 0.4 to 0.6 are texts."));
    }
    if cf.gc_grace_s != GC_GRACE_S {
        script.lose(format!("{name}: gc_grace is a setting of the whole server there: GCGraceSeconds."));
    }
    if !cf.names.is_default() {
        script.lose(format!("{name}: names of key and clustering columns exist in CQL only."));
    }
    if !cf.settings.is_empty() {
        script.lose(format!("{name}: settings of 0.7 and later."));
    }
}

/// Returns the short name of a comparator.
fn class(comparator: &dyn base::marshal::AbstractType) -> String {
    escaped(&comparator.class_name().replace(PACKAGE, ""))
}

/// Returns a text as content or attribute of XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
