//! Checks requests for changes of the schema, and builds definitions from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::limits::check_columns;
use super::request::{CfRequest, ColumnRequest, KsRequest};
use super::settings;
use crate::error::invalid;
use crate::limits::SCHEMA_NAME_CHARS_MAX;
use crate::reserved::{SYSTEM_KEYSPACE, is_reserved};
use crate::{Error, Result};
use base::compat::rules::SchemaRules;
use base::compat::{Behaviour, texts};
use base::marshal::{BytesType, COUNTER_COLUMN_TYPE, TypeError, TypeRef, Types, may_succeed, unreversed};
use base::schema::{Catalog, CfDef, ColumnDef, ColumnType, IndexDef, IndexKind, KeyspaceDef};
use base::util::{Release, hex};
use store::Capabilities;

/// The package of replica placement strategies.
const STRATEGY_PACKAGE: &str = "org.apache.cassandra.locator.";

const TYPE_PACKAGE: &str = "org.apache.cassandra.db.marshal.";

/// Types with type parameters.
const MADE_OF_OTHERS: [&str; 10] = [
    "ReversedType",
    "CompositeType",
    "DynamicCompositeType",
    "ListType",
    "SetType",
    "MapType",
    "FrozenType",
    "TupleType",
    "UserType",
    "ColumnToCollectionType",
];

/// The strategy option with the number of replicas.
const FACTOR: &str = "replication_factor";

/// The index option with the name of the index's class.
const CUSTOM_INDEX_CLASS: &str = "class_name";

/// The replication strategies that a keyspace may use.
const STRATEGIES: [&str; 5] = [
    "SimpleStrategy",
    "NetworkTopologyStrategy",
    "OldNetworkTopologyStrategy",
    "RackUnawareStrategy",
    "RackAwareStrategy",
];

/// Returns whether a name consists of letters, digits and underscores and is not too long.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= SCHEMA_NAME_CHARS_MAX
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn check_name(what: &str, name: &str) -> Result<()> {
    if is_name(name) {
        return Ok(());
    }
    invalid(format!(
        "{what} name must not be empty, more than {SCHEMA_NAME_CHARS_MAX} characters long, or contain \
         non-alphanumeric-underscore characters (got \"{name}\")"
    ))
}

/// Checks requests and builds definitions from them.
pub(super) struct SchemaCheck<'a> {
    pub catalog: &'a Catalog,
    pub types: &'a Types,
    pub release: Release,
    pub store: Capabilities<'a>,
}

impl SchemaCheck<'_> {
    /// Returns the release's rules for definitions.
    fn rules(&self) -> &'static SchemaRules {
        &Behaviour::of(self.release).schema
    }

    /// Returns an existing keyspace that clients may change.
    pub(super) fn changeable(&self, name: &str) -> Result<&KeyspaceDef> {
        self.not_reserved(name)?;
        let Some(keyspace) = self.catalog.keyspace(name) else {
            return invalid(texts::unknown_keyspace(self.release, name));
        };
        if keyspace.is_configured {
            return invalid(format!(
                "keyspace {name} is defined in the server's configuration file: change it there and restart the \
                 server"
            ));
        }
        Ok(keyspace)
    }

    /// Checks the name of a new keyspace.
    pub(super) fn new_keyspace_name(&self, name: &str) -> Result<()> {
        self.not_reserved(name)?;
        if !Behaviour::of(self.release).schema.keyspaces_differ_in_more_than_case {
            let is_new = !self.catalog.keyspaces.contains_key(name);
            return if is_new { Ok(()) } else { invalid(texts::existing_keyspace(self.release, name)) };
        }
        match self.catalog.keyspaces.keys().find(|other| other.eq_ignore_ascii_case(name)) {
            None => Ok(()),
            Some(other) => invalid(texts::clashing_keyspace(self.release, name, other)),
        }
    }

    fn not_reserved(&self, name: &str) -> Result<()> {
        if !is_reserved(self.store, name) {
            return Ok(());
        }
        if name.eq_ignore_ascii_case(SYSTEM_KEYSPACE) {
            return invalid(texts::own_keyspace(self.release, SYSTEM_KEYSPACE));
        }
        invalid(texts::own_keyspace(self.release, name))
    }

    /// Builds the definition of a keyspace without its column families.
    pub(super) fn keyspace(&self, request: &KsRequest) -> Result<KeyspaceDef> {
        check_name("Keyspace", &request.name)?;
        let strategy_class = strategy_class(&request.strategy_class)?;
        let mut options = request.strategy_options.clone();
        let is_simple = strategy_class.ends_with(".SimpleStrategy")
            || strategy_class.ends_with(".OldNetworkTopologyStrategy");
        // Up to 1.0 the replication factor is a field of its own beside the options; clients of any release may send
        // it in either place.
        if let (true, Some(factor), None) =
            (is_simple, request.replication_factor, options.get("replication_factor"))
        {
            options.insert("replication_factor".to_owned(), factor.to_string());
        }
        let mut keyspace = KeyspaceDef::new(&request.name);
        keyspace.replication_factor = if is_simple {
            let Some(factor) = options.get("replication_factor") else {
                // OldNetworkTopologyStrategy names SimpleStrategy in this message too.
                return invalid("SimpleStrategy requires a replication_factor strategy option.");
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

    /// Builds the definition of a new or changed column family; `old` is the definition before the change.
    pub(super) fn column_family(&self, request: &CfRequest, old: Option<&CfDef>) -> Result<CfDef> {
        let mut cf = CfDef::new(&request.keyspace, &request.name);
        cf.column_type = self.column_type(request)?;
        cf.comparator = self.type_or_bytes(request.comparator_type.as_deref())?;
        // The order of mistakes is the same as in `CFMetaData.fromThrift`.
        let reads_columns_first = self.rules().columns_are_read_before_settings;
        if reads_columns_first {
            self.columns(&mut cf, request, old)?;
        }
        cf.settings = settings::made(&request.settings, self.release, self.store.checks_definitions)?;
        cf.default_validator = self.type_or_bytes(request.default_validation_class.as_deref())?;
        if let (true, Some(old)) = (self.rules().default_validator_stays, old) {
            cf.default_validator = old.default_validator.clone();
        }
        if !reads_columns_first {
            self.columns(&mut cf, request, old)?;
        }
        cf.key_alias = request.key_alias.clone();
        cf.comment = request.comment.clone();
        cf.gc_grace_s = request.gc_grace_seconds.unwrap_or(cf.gc_grace_s);
        settings::check_compaction_options(&cf.settings, self.release, self.store.checks_definitions)?;
        check_columns(&cf)?;
        self.check_family(&cf, request)?;
        Ok(cf.with_indexes())
    }

    /// Reads the key's type and the definitions of columns.
    fn columns(&self, cf: &mut CfDef, request: &CfRequest, old: Option<&CfDef>) -> Result<()> {
        cf.key_validator =
            request.key_validation_class.as_deref().map(|class| self.resolve(class)).transpose()?;
        for column in &request.columns {
            let definition = self.column(cf, column, old)?;
            cf.column_metadata.insert(column.name.clone(), definition);
        }
        Ok(())
    }

    fn column_type(&self, request: &CfRequest) -> Result<ColumnType> {
        let names = |known: &str, given: &str| {
            given == known || self.rules().family_types_ignore_case && given.eq_ignore_ascii_case(known)
        };
        match request.column_type.as_deref() {
            None => Ok(ColumnType::Standard),
            Some(given) if names("Standard", given) => Ok(ColumnType::Standard),
            Some(given) if names("Super", given) => Ok(ColumnType::Super {
                subcomparator: self.subcomparator(request.subcomparator_type.as_deref())?,
            }),
            Some(other) => invalid(format!("Invalid column type {other}")),
        }
    }

    fn subcomparator(&self, class: Option<&str>) -> Result<TypeRef> {
        let found = self.type_or_bytes(class)?;
        match unreversed(found.class_name()) {
            (plain, true) if self.rules().types_are_of_cql => self.resolve(plain),
            _ => Ok(found),
        }
    }

    fn type_or_bytes(&self, class: Option<&str>) -> Result<TypeRef> {
        match class {
            None | Some("") => Ok(Arc::new(BytesType)),
            Some(class) => self.resolve(class),
        }
    }

    fn resolve(&self, class: &str) -> Result<TypeRef> {
        let found = self.types.parse(class).map_err(|error| Error::invalid(type_mistake(class, &error)))?;
        if self.rules().types_are_of_cql && found.class_name().ends_with(".DateType") {
            return self
                .types
                .parse("TimestampType")
                .map_err(|error| Error::invalid(type_mistake(class, &error)));
        }
        Ok(found)
    }

    fn column(&self, cf: &CfDef, request: &ColumnRequest, old: Option<&CfDef>) -> Result<ColumnDef> {
        let comparator = cf.subcomparator().unwrap_or(&cf.comparator);
        let comparator = base::marshal::at(&**comparator, self.release);
        if comparator.validate(&request.name).is_err() {
            return invalid(format!(
                "Column name {} is not valid for comparator {}",
                hex(&request.name),
                comparator.class_name()
            ));
        }
        let index = request.index_kind.map(|kind| {
            let earlier = old.and_then(|old| old.column_metadata.get(&request.name)?.index.clone()?.name);
            let name = request.index_name.clone().or(earlier);
            // 0.7 gives indexes no default name.
            let has_default = self.rules().indexes_get_names;
            let name = name.or_else(|| has_default.then(|| self.default_index_name(cf, &request.name)));
            IndexDef { kind, name, options: request.index_options.clone() }
        });
        Ok(ColumnDef {
            name: request.name.clone(),
            validator: self.resolve(&request.validation_class)?,
            index,
        })
    }

    /// Returns the default name of an index, as the old servers do: `Family_column_idx`, reduced to letters, digits
    /// and underscores.
    fn default_index_name(&self, cf: &CfDef, column: &[u8]) -> String {
        let comparator = base::marshal::at(&*cf.comparator, self.release);
        let text = format!("{}_{}_idx", cf.name, comparator.to_text(column));
        text.chars().filter(|character| character.is_ascii_alphanumeric() || *character == '_').collect()
    }

    fn check_family(&self, cf: &CfDef, request: &CfRequest) -> Result<()> {
        check_name("Keyspace", &cf.keyspace)?;
        check_name("ColumnFamily", &cf.name)?;
        let checks_settings = || settings::check(&cf.settings, cf.gc_grace_s, self.release);
        if self.rules().settings_are_table_params {
            checks_settings()?;
        }
        // 2.0 and later ignore it.
        if let (true, false, Some(class)) =
            (self.rules().subcomparator_is_read, cf.is_super(), request.subcomparator_type.as_deref())
        {
            return invalid(format!(
                "Subcolumn comparator ({}) is invalid for standard column family {}",
                self.resolve(class)?.class_name(),
                cf.name
            ));
        }
        let is_counter = |class: &str| class == COUNTER_COLUMN_TYPE;
        let of_names = std::iter::once(&cf.comparator).chain(cf.subcomparator());
        if of_names.into_iter().any(|comparator| is_counter(comparator.class_name())) {
            return invalid("CounterColumnType is not a valid comparator");
        }
        if cf.key_validator.as_ref().is_some_and(|validator| is_counter(validator.class_name())) {
            return invalid("CounterColumnType is not a valid key validator");
        }
        for column in cf.column_metadata.values() {
            let counts = is_counter(column.validator.class_name());
            let name = cf.comparator.to_text(&column.name);
            if cf.is_counter() && !counts {
                return invalid(format!(
                    "Cannot add a non counter column ({name}) in a counter column family"
                ));
            }
            if !cf.is_counter() && counts {
                return invalid(format!(
                    "Cannot add a counter column ({name}) in a non counter column family"
                ));
            }
        }
        let last = request.columns.iter().map(|column| (&column.name, column)).collect::<BTreeMap<_, _>>();
        if last.values().any(|column| column.index_kind.is_none() && column.index_name.is_some()) {
            return invalid("Index name cannot be set without index type");
        }
        self.check_indexes(cf)?;
        checks_settings()
    }

    fn check_indexes(&self, cf: &CfDef) -> Result<()> {
        let rules = self.rules();
        let others = self
            .catalog
            .column_families()
            .filter(|other| other.keyspace == cf.keyspace && other.name != cf.name)
            .filter(|_| !rules.index_names_are_of_one_family);
        let taken = others.flat_map(|other| other.indexed_columns()).filter_map(|column| index_name(column));
        let mut taken: Vec<&str> = taken.collect();
        for column in cf.indexed_columns() {
            if cf.is_super() {
                return invalid("Secondary indexes are not supported on super column families");
            }
            let Some(name) = index_name(column) else { continue };
            let is_legal =
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !is_legal {
                return invalid(format!("Illegal index name {name}"));
            }
            if taken.contains(&name) {
                return invalid(texts::duplicate_index(self.release, name));
            }
            taken.push(name);
            self.check_custom_index(column)?;
        }
        Ok(())
    }

    /// Checks that a custom index names its class.
    fn check_custom_index(&self, column: &ColumnDef) -> Result<()> {
        let index = column.index.as_ref().filter(|index| index.kind == IndexKind::Custom);
        let Some(index) = index.filter(|_| self.rules().custom_index_needs_class) else { return Ok(()) };
        let options = index.options.as_ref();
        if options.is_some_and(|options| options.contains_key(CUSTOM_INDEX_CLASS)) {
            return Ok(());
        }
        invalid(format!("Required index option missing: {CUSTOM_INDEX_CLASS}"))
    }

    /// Checks the options of a strategy as 1.1 and later do for Thrift clients. CQL has rules of its own.
    pub(super) fn strategy_options(&self, request: &KsRequest) -> Result<()> {
        if !self.rules().strategy_options_are_checked || self.store.checks_definitions {
            return Ok(());
        }
        let class = strategy_class(&request.strategy_class)?;
        let short = class.strip_prefix(STRATEGY_PACKAGE).unwrap_or(&class);
        let options = &request.strategy_options;
        match short {
            "SimpleStrategy" | "OldNetworkTopologyStrategy" => {
                match options.keys().find(|name| *name != FACTOR) {
                    Some(name) if self.rules().strategy_options_must_be_known => {
                        invalid(texts::unknown_strategy_option(self.release, name, short, &request.name))
                    }
                    _ => Ok(()),
                }
            }
            "NetworkTopologyStrategy" => options.iter().try_for_each(|(name, factor)| {
                if name.eq_ignore_ascii_case(FACTOR) {
                    return invalid(texts::factor_of_other_strategy(self.release));
                }
                match factor.parse::<i32>() {
                    Ok(_) => replication_factor(factor).map(drop),
                    Err(_) => invalid(format!("For input string: \"{factor}\"")),
                }
            }),
            _ => Ok(()),
        }
    }

    /// Checks whether a definition can replace another one over the same data.
    pub(super) fn compatible(&self, old: &CfDef, new: &CfDef) -> Result<()> {
        if old.type_name() != new.type_name() {
            return invalid("types do not match.");
        }
        // From 1.1 on the type of names may change to one that sorts them as before and accepts more values.
        let follows = |old: &TypeRef, new: &TypeRef| {
            let (old, new) = (old.class_name(), new.class_name());
            old == new
                || self.rules().comparators_may_widen
                    && !self.store.checks_definitions
                    && may_succeed(old, new)
        };
        if !follows(&old.comparator, &new.comparator) {
            return invalid(texts::other_comparator(self.release));
        }
        if let (Some(old), Some(new)) = (old.subcomparator(), new.subcomparator())
            && !follows(old, new)
        {
            return invalid(texts::other_subcomparator(self.release));
        }
        if old.is_counter() != new.is_counter() {
            return invalid("a column family cannot begin or cease to be one of counters.");
        }
        Ok(())
    }
}

fn index_name(column: &ColumnDef) -> Option<&str> {
    column.index.as_ref()?.name.as_deref()
}

/// Returns the message for a text that is not a type. For a type with parameters it only reports that the definition
/// is invalid.
fn type_mistake(class: &str, error: &TypeError) -> String {
    let name = class.trim_start().split(|character: char| !is_of_name(character)).next().unwrap_or_default();
    let short = name.strip_prefix(TYPE_PACKAGE).unwrap_or(name);
    if MADE_OF_OTHERS.contains(&short) {
        return format!("Invalid definition for comparator {TYPE_PACKAGE}{short}.");
    }
    error.to_string()
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-+._&".contains(character)
}

fn replication_factor(text: &str) -> Result<i32> {
    match text.parse::<i32>() {
        Err(_) => invalid(format!("Replication factor must be numeric; found {text}")),
        Ok(factor) if factor < 0 => invalid(format!("Replication factor must be non-negative; found {text}")),
        Ok(factor) => Ok(factor),
    }
}

/// Returns the full class name of a strategy, which is one of Cassandra's or has a package of its own.
fn strategy_class(given: &str) -> Result<String> {
    let short = given.strip_prefix(STRATEGY_PACKAGE).unwrap_or(given);
    if short == "LocalStrategy" {
        return invalid("Unable to use given strategy class: LocalStrategy is reserved for internal use.");
    }
    if STRATEGIES.contains(&short) {
        return Ok(format!("{STRATEGY_PACKAGE}{short}"));
    }
    if short.contains('.') && !given.starts_with("org.apache.cassandra.") {
        return Ok(given.to_owned());
    }
    let full = if given.contains('.') { given.to_owned() } else { format!("{STRATEGY_PACKAGE}{given}") };
    invalid(format!("Unable to find replication strategy class '{full}'"))
}
