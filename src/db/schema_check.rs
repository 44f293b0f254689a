//! Checks what clients ask of the schema, and makes definitions of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Error;
use super::describe::SYSTEM_KEYSPACE;
use super::reserved::is_reserved;
use super::schema_request::{CfRequest, ColumnRequest, KsRequest};
use super::validate_read::hex;
use crate::marshal::{BytesType, COUNTER_COLUMN_TYPE, TypeRef, Types};
use crate::schema::{Catalog, CfDef, ColumnDef, ColumnType, IndexDef, KeyspaceDef, Setting};
use crate::storage::RemoteStore;
use crate::util::Release;
use crate::util::limits::SCHEMA_NAME_CHARS_MAX;

/// The package of replica placement strategies.
const STRATEGY_PACKAGE: &str = "org.apache.cassandra.locator.";

/// The package of compaction strategies.
const COMPACTION_PACKAGE: &str = "org.apache.cassandra.db.compaction.";

/// The strategies that a keyspace may name.
const STRATEGIES: [&str; 5] = [
    "SimpleStrategy",
    "NetworkTopologyStrategy",
    "OldNetworkTopologyStrategy",
    "RackUnawareStrategy",
    "RackAwareStrategy",
];

/// A name of letters, digits and underscores that is not too long.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= SCHEMA_NAME_CHARS_MAX
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn check_name(what: &str, name: &str) -> Result<(), Error> {
    if is_name(name) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{what} name must not be empty, more than {SCHEMA_NAME_CHARS_MAX} characters long, or contain \
         non-alphanumeric-underscore characters (got \"{name}\")"
    )))
}

/// Makes definitions of requests.
pub(super) struct SchemaCheck<'a> {
    pub catalog: &'a Catalog,
    pub types: &'a Types,
    pub release: Release,
    /// The cluster, where the store is one.
    pub remote: Option<&'a dyn RemoteStore>,
}

impl SchemaCheck<'_> {
    /// A keyspace that clients may change.
    pub fn changeable(&self, name: &str) -> Result<&KeyspaceDef, Error> {
        self.not_reserved(name)?;
        let Some(keyspace) = self.catalog.keyspace(name) else {
            return Err(Error::invalid(format!("Keyspace {name} does not exist")));
        };
        if keyspace.is_configured {
            return Err(Error::invalid(format!(
                "keyspace {name} is defined in the server's configuration file: change it there and restart the \
                 server"
            )));
        }
        Ok(keyspace)
    }

    /// The name of a keyspace that is to be made.
    pub fn new_keyspace_name(&self, name: &str) -> Result<(), Error> {
        self.not_reserved(name)?;
        match self.catalog.keyspaces.keys().find(|other| other.eq_ignore_ascii_case(name)) {
            None => Ok(()),
            Some(other) => Err(Error::invalid(format!(
                "Keyspace names must be case-insensitively unique (\"{name}\" conflicts with \"{other}\")"
            ))),
        }
    }

    fn not_reserved(&self, name: &str) -> Result<(), Error> {
        if !is_reserved(self.remote, name) {
            return Ok(());
        }
        if name.eq_ignore_ascii_case(SYSTEM_KEYSPACE) {
            return Err(Error::invalid("system keyspace is not user-modifiable"));
        }
        Err(Error::invalid(format!("{name} keyspace is not user-modifiable")))
    }

    /// A keyspace without its column families.
    pub fn keyspace(&self, request: &KsRequest) -> Result<KeyspaceDef, Error> {
        check_name("Keyspace", &request.name)?;
        let strategy_class = strategy_class(&request.strategy_class)?;
        let mut options = request.strategy_options.clone();
        let is_simple = strategy_class.ends_with(".SimpleStrategy")
            || strategy_class.ends_with(".OldNetworkTopologyStrategy");
        // Up to 1.0 the factor stands beside the options; a client of any year may say it either way.
        if let (true, Some(factor), None) =
            (is_simple, request.replication_factor, options.get("replication_factor"))
        {
            options.insert("replication_factor".to_owned(), factor.to_string());
        }
        let mut keyspace = KeyspaceDef::new(&request.name);
        keyspace.replication_factor = if is_simple {
            let Some(factor) = options.get("replication_factor") else {
                let short = strategy_class.trim_start_matches(STRATEGY_PACKAGE);
                return Err(Error::invalid(format!(
                    "{short} requires a replication_factor strategy option."
                )));
            };
            replication_factor(factor)?
        } else {
            let factors = options.values().filter_map(|factor| factor.parse().ok());
            factors.max().or(request.replication_factor).unwrap_or(1)
        };
        keyspace.strategy_class = strategy_class;
        keyspace.strategy_options = options;
        keyspace.durable_writes = request.durable_writes.unwrap_or(true);
        Ok(keyspace)
    }

    /// A column family, new or as it is to become; `old` is what it was.
    pub fn column_family(&self, request: &CfRequest, old: Option<&CfDef>) -> Result<CfDef, Error> {
        let mut cf = CfDef::new(&request.keyspace, &request.name);
        cf.column_type = self.column_type(request)?;
        cf.comparator = self.type_or_bytes(request.comparator_type.as_deref())?;
        cf.default_validator = self.type_or_bytes(request.default_validation_class.as_deref())?;
        cf.key_validator =
            request.key_validation_class.as_deref().map(|class| self.resolve(class)).transpose()?;
        cf.key_alias = request.key_alias.clone();
        cf.comment = request.comment.clone();
        cf.gc_grace_s = request.gc_grace_seconds.unwrap_or(cf.gc_grace_s);
        cf.settings = settings(&request.settings)?;
        for column in &request.columns {
            let definition = self.column(&cf, column, old)?;
            cf.column_metadata.insert(column.name.clone(), definition);
        }
        self.check_family(&cf)?;
        Ok(cf.with_indexes())
    }

    fn column_type(&self, request: &CfRequest) -> Result<ColumnType, Error> {
        match request.column_type.as_deref() {
            None | Some("Standard") => Ok(ColumnType::Standard),
            Some("Super") => Ok(ColumnType::Super {
                subcomparator: self.type_or_bytes(request.subcomparator_type.as_deref())?,
            }),
            Some(other) => Err(Error::invalid(format!("Invalid column type {other}"))),
        }
    }

    fn type_or_bytes(&self, class: Option<&str>) -> Result<TypeRef, Error> {
        match class {
            None | Some("") => Ok(Arc::new(BytesType)),
            Some(class) => self.resolve(class),
        }
    }

    fn resolve(&self, class: &str) -> Result<TypeRef, Error> {
        self.types.parse(class).map_err(|error| Error::invalid(error.to_string()))
    }

    fn column(&self, cf: &CfDef, request: &ColumnRequest, old: Option<&CfDef>) -> Result<ColumnDef, Error> {
        let comparator = cf.subcomparator().unwrap_or(&cf.comparator);
        let comparator = crate::marshal::at(&**comparator, self.release);
        if comparator.validate(&request.name).is_err() {
            return Err(Error::invalid(format!(
                "Column name {} is not valid for comparator {}",
                hex(&request.name),
                comparator.class_name()
            )));
        }
        if request.index_kind.is_none() && request.index_name.is_some() {
            return Err(Error::invalid("Index name cannot be set without index type"));
        }
        let index = request.index_kind.map(|kind| {
            let earlier = old.and_then(|old| old.column_metadata.get(&request.name)?.index.clone()?.name);
            let name = request.index_name.clone().or(earlier);
            let name = name.unwrap_or_else(|| self.default_index_name(cf, &request.name));
            IndexDef { kind, name: Some(name), options: request.index_options.clone() }
        });
        Ok(ColumnDef {
            name: request.name.clone(),
            validator: self.resolve(&request.validation_class)?,
            index,
        })
    }

    /// `Family_column_idx` in letters, digits and underscores, as the old servers name one.
    fn default_index_name(&self, cf: &CfDef, column: &[u8]) -> String {
        let comparator = crate::marshal::at(&*cf.comparator, self.release);
        let text = format!("{}_{}_idx", cf.name, comparator.to_text(column));
        text.chars().filter(|character| character.is_ascii_alphanumeric() || *character == '_').collect()
    }

    fn check_family(&self, cf: &CfDef) -> Result<(), Error> {
        check_name("Keyspace", &cf.keyspace)?;
        check_name("ColumnFamily", &cf.name)?;
        let is_counter = |class: &str| class == COUNTER_COLUMN_TYPE;
        let of_names = std::iter::once(&cf.comparator).chain(cf.subcomparator());
        if of_names.into_iter().any(|comparator| is_counter(comparator.class_name())) {
            return Err(Error::invalid("CounterColumnType is not a valid comparator"));
        }
        if cf.key_validator.as_ref().is_some_and(|validator| is_counter(validator.class_name())) {
            return Err(Error::invalid("CounterColumnType is not a valid key validator"));
        }
        for column in cf.column_metadata.values() {
            let counts = is_counter(column.validator.class_name());
            let name = cf.comparator.to_text(&column.name);
            if cf.is_counter() && !counts {
                return Err(Error::invalid(format!(
                    "Cannot add a non counter column ({name}) in a counter column family"
                )));
            }
            if !cf.is_counter() && counts {
                return Err(Error::invalid(format!(
                    "Cannot add a counter column ({name}) in a non counter column family"
                )));
            }
        }
        self.check_indexes(cf)?;
        check_thresholds(cf)
    }

    fn check_indexes(&self, cf: &CfDef) -> Result<(), Error> {
        let others = self
            .catalog
            .column_families()
            .filter(|other| other.keyspace == cf.keyspace && other.name != cf.name);
        let taken = others.flat_map(|other| other.indexed_columns()).filter_map(|column| index_name(column));
        let mut taken: Vec<&str> = taken.collect();
        for column in cf.indexed_columns() {
            if cf.is_super() {
                return Err(Error::invalid("Secondary indexes are not supported on super column families"));
            }
            let name = index_name(column).unwrap_or_default();
            let is_legal =
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !is_legal {
                return Err(Error::invalid(format!("Illegal index name {name}")));
            }
            if taken.contains(&name) {
                return Err(Error::invalid(format!("Duplicate index name {name}")));
            }
            taken.push(name);
        }
        Ok(())
    }

    /// Whether one definition can take the place of another over the same data.
    pub fn compatible(&self, old: &CfDef, new: &CfDef) -> Result<(), Error> {
        if old.type_name() != new.type_name() {
            return Err(Error::invalid("types do not match."));
        }
        let is_same = |old: Option<&TypeRef>, new: Option<&TypeRef>| {
            old.map(|comparator| comparator.class_name()) == new.map(|comparator| comparator.class_name())
        };
        if !is_same(Some(&old.comparator), Some(&new.comparator)) {
            return Err(Error::invalid("comparators do not match or are not compatible."));
        }
        if !is_same(old.subcomparator(), new.subcomparator()) {
            return Err(Error::invalid("subcolumncomparators do not match or are note compatible."));
        }
        if old.is_counter() != new.is_counter() {
            return Err(Error::invalid("a column family cannot begin or cease to be one of counters."));
        }
        Ok(())
    }
}

fn index_name(column: &ColumnDef) -> Option<&str> {
    column.index.as_ref()?.name.as_deref()
}

fn replication_factor(text: &str) -> Result<i32, Error> {
    match text.parse::<i32>() {
        Err(_) => Err(Error::invalid(format!("Replication factor must be numeric; found {text}"))),
        Ok(factor) if factor < 0 => {
            Err(Error::invalid(format!("Replication factor must be non-negative; found {text}")))
        }
        Ok(factor) => Ok(factor),
    }
}

/// The full class name of a strategy: one of Cassandra's, or anybody's from another package.
fn strategy_class(given: &str) -> Result<String, Error> {
    let short = given.strip_prefix(STRATEGY_PACKAGE).unwrap_or(given);
    if short == "LocalStrategy" {
        return Err(Error::invalid(
            "Unable to use given strategy class: LocalStrategy is reserved for internal use.",
        ));
    }
    if STRATEGIES.contains(&short) {
        return Ok(format!("{STRATEGY_PACKAGE}{short}"));
    }
    if short.contains('.') && !given.starts_with("org.apache.cassandra.") {
        return Ok(given.to_owned());
    }
    let full = if given.contains('.') { given.to_owned() } else { format!("{STRATEGY_PACKAGE}{given}") };
    Err(Error::invalid(format!("Unable to find replication strategy class '{full}'")))
}

/// Settings as they will be shown.
fn settings(said: &BTreeMap<String, Setting>) -> Result<BTreeMap<String, Setting>, Error> {
    let mut kept = said.clone();
    if let Some(Setting::Text(class)) = kept.get_mut("compaction_strategy")
        && !class.contains('.')
    {
        *class = format!("{COMPACTION_PACKAGE}{class}");
    }
    if let Some(Setting::Text(caching)) = kept.get_mut("caching") {
        let upper = caching.to_ascii_uppercase();
        if !["ALL", "KEYS_ONLY", "ROWS_ONLY", "NONE"].contains(&&*upper) {
            return Err(Error::invalid(format!(
                "{caching} not found, available types: [ALL, KEYS_ONLY, ROWS_ONLY, NONE]."
            )));
        }
        *caching = upper;
    }
    Ok(kept)
}

fn check_thresholds(cf: &CfDef) -> Result<(), Error> {
    let number = |name: &str, default: i32| match cf.settings.get(name) {
        Some(Setting::Int(number)) => *number,
        _ => default,
    };
    let (min, max) = (number("min_compaction_threshold", 4), number("max_compaction_threshold", 32));
    // Both at 0 turned compaction off.
    if max == 0 {
        return Ok(());
    }
    if min <= 1 {
        return Err(Error::invalid(format!("Min compaction threshold cannot be less than 2 (got {min}).")));
    }
    if min > max {
        return Err(Error::invalid(format!(
            "Min compaction threshold (got {min}) cannot be greater than max compaction threshold (got {max})"
        )));
    }
    Ok(())
}
