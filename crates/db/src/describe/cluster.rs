//! Descriptions of the cluster and its schema for clients.

use super::system::system_keyspace;
use crate::error::invalid;
use crate::reserved::{SYSTEM_FAMILIES, SYSTEM_KEYSPACE, is_reserved};
use crate::validate::Validation;
use crate::{Database, DbFuture, Error, Result, table_cells};
use base::compat::features::{api_version, cql3_version};
use base::compat::rules::OwnKeyspace;
use base::compat::{Behaviour, texts};
use base::schema::{CfDef, KeyspaceDef};
use base::util::Release;

/// The properties of a column family in describe_keyspace of 0.4 to 0.6, each with its value.
pub type ColumnFamilyDescription = Vec<(&'static str, String)>;

/// A range of the ring and the addresses of its nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRange {
    /// The start of the range, which is not included.
    pub start_token: String,
    /// The end of the range, which is included.
    pub end_token: String,
    /// The addresses of the nodes that store the range.
    pub endpoints: Vec<String>,
}

/// Describes the cluster and its schema to clients, with the rules and messages of a release.
#[derive(Clone, Copy)]
pub struct Describe<'a> {
    database: &'a Database,
    behaviour: &'static Behaviour,
}

impl Database {
    /// Returns the descriptions of the cluster and its schema.
    pub fn describe(&self, behaviour: &'static Behaviour) -> Describe<'_> {
        Describe { database: self, behaviour }
    }
}

impl Describe<'_> {
    /// Checks whether a client can select a keyspace with set_keyspace.
    pub fn check_keyspace(&self, keyspace: &[u8]) -> Result<()> {
        self.check_named_keyspace(keyspace).map_err(|_| {
            let name = String::from_utf8_lossy(keyspace);
            Error::unknown(texts::unknown_keyspace_to_use(self.behaviour, &name))
        })
    }

    /// Checks whether a keyspace exists, which a statement names.
    pub fn check_named_keyspace(&self, keyspace: &[u8]) -> Result<()> {
        let catalog = self.database.catalog();
        Validation::new(self.database.clock(), &catalog, self.behaviour).keyspace(keyspace)
    }

    /// Checks whether a column family exists.
    pub fn check_family(&self, keyspace: &[u8], family: &[u8]) -> Result<()> {
        let catalog = self.database.catalog();
        Validation::new(self.database.clock(), &catalog, self.behaviour).defined(keyspace, family)
    }

    /// Returns whether a column family has super columns; an error if it does not exist.
    pub fn is_super(&self, keyspace: &[u8], family: &[u8]) -> Result<bool> {
        let catalog = self.database.catalog();
        Ok(Validation::new(self.database.clock(), &catalog, self.behaviour)
            .family(keyspace, family)?
            .is_super())
    }

    /// Returns the version of the schema: to 1.0 a UUID of version 1, later of version 3. Its bits come from the schema,
    /// so the time in it has no meaning.
    pub fn schema_version(&self) -> String {
        let version = self.database.schema_version();
        match version.parse::<uuid::Uuid>() {
            Ok(version) if self.behaviour.schema.versions_are_times => {
                let bytes = version.into_bytes();
                uuid::Builder::from_bytes(bytes).with_version(uuid::Version::Mac).into_uuid().to_string()
            }
            _ => version,
        }
    }

    /// Returns the names of all keyspaces and of "system", which 0.4 and later list too.
    pub fn keyspace_names(&self) -> Vec<String> {
        let mut names = self.table_names();
        names.push(SYSTEM_KEYSPACE.to_owned());
        names
    }

    /// Returns the names of all keyspaces, as 0.3 lists its tables.
    pub fn table_names(&self) -> Vec<String> {
        let catalog = self.database.catalog();
        let all_are_listed = !self.behaviour.schema.replication_is_global;
        let listed = catalog
            .keyspaces
            .values()
            .filter(|keyspace| all_are_listed || keyspace.replication_factor == catalog.replication_factor);
        listed.map(|keyspace| keyspace.name.clone()).collect()
    }

    /// Describes each column family of a keyspace; `None` if the keyspace does not exist.
    pub fn describe_keyspace(&self, keyspace: &[u8]) -> Option<Vec<(String, ColumnFamilyDescription)>> {
        if keyspace == SYSTEM_KEYSPACE.as_bytes() {
            return Some(old_system_keyspace());
        }
        let catalog = self.database.catalog();
        let keyspace = catalog.keyspace(keyspace)?;
        let families = keyspace.column_families.values();
        Some(
            families
                .map(|cf| (cf.name.clone(), describe_family(keyspace, cf, self.behaviour.release)))
                .collect(),
        )
    }

    /// Returns the text of describeTable of 0.3: a few lines for each column family, or that the table does not
    /// exist.
    pub fn describe_table(&self, table: &[u8]) -> String {
        let name = String::from_utf8_lossy(table);
        let catalog = self.database.catalog();
        let Some(keyspace) = catalog.keyspace(table) else { return format!("Table {name} not found.") };
        let families = keyspace.column_families.values();
        families.map(|cf| describe_lines(keyspace, cf)).collect()
    }

    /// Returns all keyspaces, as 0.7 and later describe them: without CQL tables.
    pub fn keyspaces(&self) -> Vec<KeyspaceDef> {
        let (catalog, release) = (self.database.catalog(), self.behaviour.release);
        let shown = catalog.keyspaces.values().map(|keyspace| shown(keyspace, release));
        let system = system_keyspace(self.database.types(), release);
        let own = self.behaviour.schema.own_keyspaces.iter();
        // A client of an older release may have made a keyspace of that name.
        let own = own.filter(|own| catalog.keyspace(own.name).is_none()).map(own_keyspace);
        shown.chain([system]).chain(own).collect()
    }

    /// Returns one keyspace, as 0.7 and later describe it: without CQL tables.
    pub fn keyspace(&self, name: &[u8]) -> Option<KeyspaceDef> {
        let name = std::str::from_utf8(name).ok()?;
        let found =
            self.database.catalog().keyspace(name).map(|keyspace| shown(keyspace, self.behaviour.release));
        if name == SYSTEM_KEYSPACE {
            return Some(system_keyspace(self.database.types(), self.behaviour.release));
        }
        let own = self.behaviour.schema.own_keyspaces.iter().find(|own| own.name == name);
        found.or_else(|| own.map(own_keyspace))
    }

    /// Returns the ring of a keyspace; an error if the keyspace does not exist.
    pub fn describe_ring(&self, keyspace: &[u8]) -> Result<Vec<TokenRange>> {
        let name = String::from_utf8_lossy(keyspace);
        if self.database.catalog().keyspace(keyspace).is_none() {
            return Err(Error::unknown(match is_reserved(self.database.store().capabilities(), &name) {
                true => texts::no_ring(self.behaviour, &name),
                false => texts::unknown_keyspace_of_ring(self.behaviour, &name),
            }));
        }
        Ok(self.ring())
    }

    /// Returns the ring of all keyspaces, which is a single range because one node holds everything.
    pub fn ring(&self) -> Vec<TokenRange> {
        let token = self.database.parts.token.clone();
        let endpoints = vec![self.database.parts.endpoint.clone()];
        vec![TokenRange { start_token: token.clone(), end_token: token, endpoints }]
    }

    /// Returns the node's token as describe_token_map shows it, and the node's address.
    pub fn token_and_endpoint(&self) -> (String, String) {
        let (token, endpoint) = self.database.token_and_endpoint();
        let is_wrapped =
            self.behaviour.wire.token_map_wraps_bytes && self.database.partitioner().has_hex_tokens();
        (if is_wrapped { format!("Token(bytes[{token}])") } else { token }, endpoint)
    }

    /// Returns tokens that split a range of the ring into parts of about `keys_per_split` rows, including both ends.
    pub fn describe_splits<'a>(
        &'a self,
        start: &'a [u8],
        end: &'a [u8],
        keys_per_split: i32,
    ) -> DbFuture<'a, Vec<String>> {
        Box::pin(async move {
            let partitioner = &self.database.parts.partitioner;
            let parse = |text: &[u8]| {
                let text = String::from_utf8_lossy(text).into_owned();
                partitioner.parse_token(&text).map_err(|error| Error::invalid(error.to_string()))
            };
            let (first, last) = (parse(start)?, parse(end)?);
            let keys_per_split = usize::try_from(keys_per_split).unwrap_or(0);
            if keys_per_split == 0 {
                return invalid("keys_per_split must be positive");
            }
            let inner = self.database.store().splits(first.clone(), last.clone(), keys_per_split).await?;
            let all = std::iter::once(&first).chain(&inner).chain(std::iter::once(&last));
            Ok(all.map(|token| partitioner.token_text(token)).collect())
        })
    }

    /// Returns a property by the name that Thrift-era clients use; `?` for an unknown name.
    pub fn string_property(&self, name: &[u8]) -> String {
        match name {
            b"cluster name" => self.database.cluster_name().to_owned(),
            b"config file" => self.database.parts.config_text.clone(),
            b"token map" if self.behaviour.reads.has_token_map_property => {
                format!(
                    "{{{}:{}}}",
                    json_text(&self.database.parts.token),
                    json_text(&self.database.parts.endpoint)
                )
            }
            b"version" => api_version(self.behaviour.release).to_owned(),
            _ => "?".to_owned(),
        }
    }
}

/// Returns a keyspace with only the column families that Thrift clients see.
fn shown(keyspace: &KeyspaceDef, release: Release) -> KeyspaceDef {
    let mut keyspace = keyspace.clone();
    keyspace.column_families.retain(|_, cf| table_cells::is_shown(cf, release));
    keyspace
}

/// Returns one of the server's keyspaces, whose tables only CQL can read.
fn own_keyspace(own: &OwnKeyspace) -> KeyspaceDef {
    let class = own.replication_factor.map_or("LocalStrategy", |_| "SimpleStrategy");
    let factor = own.replication_factor.map(|factor| ("replication_factor".to_owned(), factor.to_owned()));
    KeyspaceDef {
        strategy_class: format!("org.apache.cassandra.locator.{class}"),
        strategy_options: factor.into_iter().collect(),
        ..KeyspaceDef::new(own.name)
    }
}

/// Returns the normalized CQL version that a client requests: a version 2, or a version 3 up to the release's own.
pub fn cql_version(text: &str, release: Release) -> Result<String> {
    let Some(asked) = CqlVersion::parse(text) else {
        return invalid(format!("Invalid version value: {text} (see http://semver.org/ for details)"));
    };
    if text == "3.0.0-beta1" && cql3_version(release) != text {
        // The two spaces are in Cassandra's message.
        return invalid(
            "There has been a few syntax breaking changes between 3.0.0-beta1 and 3.0.0 (mainly the syntax for options of \
             CREATE KEYSPACE and CREATE TABLE). 3.0.0-beta1  is not supported; please upgrade to 3.0.0",
        );
    }
    let supported = ["2.0.0", cql3_version(release)];
    if supported.iter().filter_map(|own| CqlVersion::parse(own)).any(|own| own.covers(&asked)) {
        return Ok(text.to_owned());
    }
    invalid(format!(
        "Provided version {text} is not supported by this server (supported: {})",
        supported.join(", ")
    ))
}

/// A semantic version without build metadata.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct CqlVersion {
    numbers: [u32; 3],
    is_done: bool,
    /// The pre-release part after the hyphen, if there is one.
    stage: String,
}

impl CqlVersion {
    fn parse(text: &str) -> Option<CqlVersion> {
        let (numbers, stage) = match text.split_once('-') {
            Some((numbers, stage)) => (numbers, Some(stage)),
            None => (text, None),
        };
        let is_other = |c: char| c != '.' && c != '_' && !c.is_ascii_alphanumeric();
        if stage.is_some_and(|stage| stage.is_empty() || stage.contains(is_other)) {
            return None;
        }
        let numbers: Vec<u32> = numbers.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let numbers = <[u32; 3]>::try_from(numbers).ok()?;
        Some(CqlVersion { numbers, is_done: stage.is_none(), stage: stage.unwrap_or_default().to_owned() })
    }

    /// Returns whether a server of this version supports clients of another version.
    fn covers(&self, asked: &CqlVersion) -> bool {
        self.numbers[0] == asked.numbers[0] && asked <= self
    }
}

fn json_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn describe_family(keyspace: &KeyspaceDef, cf: &CfDef, release: Release) -> ColumnFamilyDescription {
    let mut description = vec![
        ("Type", cf.type_name().to_owned()),
        ("Desc", describe_shape(keyspace, cf, release)),
        ("CompareWith", cf.comparator.class_name().to_owned()),
    ];
    if let Some(subcomparator) = cf.subcomparator() {
        description.push(("CompareSubcolumnsWith", subcomparator.class_name().to_owned()));
    }
    if Behaviour::of(release).schema.describes_nesting {
        description.push(("FlushPeriodInMinutes", cf.flush_period_minutes.to_string()));
    }
    description
}

/// Returns the "Desc" of describe_keyspace: 0.4 shows the nesting, 0.5 and 0.6 the comment or three lines.
fn describe_shape(keyspace: &KeyspaceDef, cf: &CfDef, release: Release) -> String {
    let full_name = format!("{}.{}", cf.keyspace, cf.name);
    if Behaviour::of(release).schema.describes_nesting {
        return describe_nesting(keyspace, cf);
    }
    cf.comment.clone().unwrap_or_else(|| {
        // The old servers print the comparator as a Java object: its class, an at sign and an address.
        format!(
            "{full_name}\nColumn Family Type: {}\nColumns Sorted By: {}@1\n",
            cf.type_name(),
            cf.comparator.class_name()
        )
    })
}

/// Shows a column family and its nested parts, with the labels of the configuration.
fn describe_nesting(keyspace: &KeyspaceDef, cf: &CfDef) -> String {
    let labels = &cf.labels;
    let columns = format!(
        "{}({}, {}, {})",
        labels.column_map, labels.column_key, labels.column_value, labels.column_timestamp
    );
    let content = if cf.is_super() {
        format!("{}({}, {columns})", labels.super_column_map, labels.super_column_key)
    } else {
        columns
    };
    format!("{}.{}({}, {content})", cf.keyspace, cf.name, keyspace.row_key_label)
}

/// Describes a column family as 0.3 does. Its rows are always sorted by name, because column families that 0.3 could
/// sort by time are sorted by name here.
fn describe_lines(keyspace: &KeyspaceDef, cf: &CfDef) -> String {
    format!(
        "{}\nColumn Family Type: {}\nColumns Sorted By: Name\nflush period: {} minutes\n-----\n",
        describe_nesting(keyspace, cf),
        cf.type_name(),
        cf.flush_period_minutes
    )
}

/// Returns the column families of "system" as 0.6.6 and later describe them.
fn old_system_keyspace() -> Vec<(String, ColumnFamilyDescription)> {
    let bytes_type = || "org.apache.cassandra.db.marshal.BytesType".to_owned();
    let family = |name: &str, type_name: &str, desc: &str| {
        let mut description =
            vec![("Type", type_name.to_owned()), ("Desc", desc.to_owned()), ("CompareWith", bytes_type())];
        if type_name == "Super" {
            description.push(("CompareSubcolumnsWith", bytes_type()));
        }
        (name.to_owned(), description)
    };
    vec![
        family(SYSTEM_FAMILIES[0], "Standard", "persistent metadata for the local node"),
        family(SYSTEM_FAMILIES[1], "Super", "hinted handoff data"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_cql_are_those_of_the_release() {
        let checked = |text, release| match cql_version(text, release) {
            Ok(version) => version,
            Err(error) => error.to_string(),
        };
        for (text, release) in
            [("3.0.0-beta1", Release::V1_1), ("3.0.0", Release::V2_1), ("3.2.1", Release::V2_1)]
        {
            assert_eq!(checked(text, release), text);
        }
        assert!(checked("3.0.0-beta1", Release::V1_2).ends_with("is not supported; please upgrade to 3.0.0"));
        assert_eq!(
            checked("3.0.0", Release::V1_1),
            "Provided version 3.0.0 is not supported by this server (supported: 2.0.0, 3.0.0-beta1)"
        );
        assert_eq!(
            checked("3.1.0", Release::V1_2),
            "Provided version 3.1.0 is not supported by this server (supported: 2.0.0, 3.0.5)"
        );
        for text in ["3.1", "3.0.0-", "3.0.0-be ta", "a.b.c", "", "1.2.3.4"] {
            let expected = format!("Invalid version value: {text} (see http://semver.org/ for details)");
            assert_eq!(checked(text, Release::V2_1), expected);
        }
    }
}
