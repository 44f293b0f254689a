//! The mistakes in configurations. The texts come from old servers if they have one.

use super::characters::{CodePoint, HELP};
use super::nearest::nearest;
use super::xml::XmlMistake;
use super::yaml::YamlMistake;

/// A name that is not allowed, and those that are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    pub given: String,
    pub allowed: Vec<String>,
}

impl UnknownName {
    pub fn new<I: Into<String>>(given: &str, allowed: impl IntoIterator<Item = I>) -> UnknownName {
        UnknownName { given: given.to_owned(), allowed: allowed.into_iter().map(Into::into).collect() }
    }

    /// Returns the likeliest correct name and all allowed names. Packages are ignored: `UTF8Typ` and
    /// `org.apache.cassandra.db.marshal.UTF8Typ` both suggest `UTF8Type`.
    fn help(&self) -> String {
        let allowed = format!("allowed: {}", self.allowed.join(", "));
        let short = self.given.rsplit('.').next().unwrap_or_default();
        let meant =
            nearest(short, self.allowed.iter().map(|name| name.rsplit('.').next().unwrap_or_default()))
                .and_then(|meant| self.allowed.iter().find(|name| name.rsplit('.').next() == Some(meant)));
        match meant {
            Some(meant) => format!("did you mean {meant}?\n{allowed}"),
            None => allowed,
        }
    }
}

/// A mistake in a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    #[error(transparent)]
    Xml(#[from] XmlMistake),
    #[error(transparent)]
    Yaml(#[from] YamlMistake),
    #[error("cannot read {file}: {reason}")]
    Unreadable { file: String, reason: String },
    #[error("<{found}> cannot be the root element of a configuration")]
    WrongRoot { found: String },
    #[error("a second root element, <{found}>")]
    SecondRoot { found: String },

    #[error("Unrecognized value for {tag}.  Integer expected.")]
    NotAnInteger { tag: String, given: String },
    #[error("Unrecognized value for {tag}.  Double expected.")]
    NotADouble { tag: String, given: String },
    #[error("Unrecognized value for {tag}.  Use 'true' or 'false'.")]
    NotABoolean { tag: String, given: String },
    #[error("Unrecognized value for {tag}.  Number or percentage expected.")]
    NotACacheSize { tag: String, given: String },
    #[error("{tag} must be {bound}")]
    OutOfBounds { tag: String, bound: String, given: String },
    #[error("{tag} must not be empty")]
    EmptyValue { tag: String },
    #[error("{tag} has an invisible character: {character}")]
    InvisibleCharacter { tag: String, character: CodePoint },
    #[error("{0}")]
    UnknownWord(String, UnknownName),

    #[error("Invalid partitioner class {}", .0.given)]
    UnknownPartitioner(UnknownName),
    #[error("Invalid authenticator class {}", .0.given)]
    UnknownAuthenticator(UnknownName),
    #[error("Invalid authority class {}", .0.given)]
    UnknownAuthority(UnknownName),
    #[error("Invalid replicaplacementstrategy class {}", .0.given)]
    UnknownStrategy(UnknownName),
    #[error("Unable to load class {} for {attribute} attribute", .class.given)]
    UnknownComparator { attribute: String, class: UnknownName },
    #[error("{name} {given:?} is not a token of the partitioner: {reason}")]
    BadToken { name: &'static str, given: String, reason: String },

    #[error(
        "Batch sync specified, but CommitLogSyncPeriodInMS found.  Only specify CommitLogSyncBatchWindowInMS when using batch sync."
    )]
    PeriodWithBatch,
    #[error(
        "Periodic sync specified, but CommitLogSyncBatchWindowInMS found.  Only specify CommitLogSyncPeriodInMS when using periodic sync."
    )]
    WindowWithPeriodic,
    #[error("{log} must not be the same as any {among}")]
    LogAmongData { log: &'static str, among: &'static str },

    #[error("ClientEncryptionOptions has no {tag}")]
    EncryptionWithout { tag: String },
    #[error("RequireClientAuth needs ClientCertificateAuthorities, which certificates are checked with")]
    ClientAuthWithoutAuthorities,

    #[error("Cluster has no {tag}{}", .with.map(|other| format!(", which {other} needs")).unwrap_or_default())]
    ClusterWithout { tag: &'static str, with: Option<&'static str> },
    #[error("a password must not be in the configuration, because clients can read it")]
    PasswordInSight,
    #[error("{reason}")]
    BadContactPoint { reason: String },
    #[error("{reason}")]
    BadReplication { reason: String },

    #[error("Table name attribute is required")]
    KeyspaceWithoutName,
    #[error("'system' is a reserved table name for Cassandra internals")]
    ReservedKeyspace,
    #[error("keyspace {name} is defined twice, first on line {first_line}")]
    KeyspaceTwice { name: String, first_line: usize },
    #[error("ColumnFamily name attribute is required")]
    FamilyWithoutName,
    #[error("ColumnFamily names cannot contain hyphens")]
    Hyphen { name: String },
    #[error("column family {name} is defined twice in keyspace {keyspace}, first on line {first_line}")]
    FamilyTwice { keyspace: String, name: String, first_line: usize },
    #[error("ColumnFamily {name} has invalid type {}", .column_type.given)]
    UnknownColumnType { name: String, column_type: UnknownName },
    #[error(
        "CompareSubcolumnsWith is only a valid attribute on super columnfamilies (not regular columnfamily {name})"
    )]
    SubcomparatorOnStandard { name: String },
    #[error("ColumnSort is no longer an accepted attribute.  Use CompareWith instead.")]
    ColumnSort,
    #[error("<Tables> is of the storage-conf.xml of 0.3, and its column families are not read")]
    TablesOf03,
    #[error("CommitLogSync must be either 'periodic' or 'batch'")]
    CommitLogSyncOfBeta { syncs_first: bool },
}

impl Mistake {
    /// Returns the advice for the mistake.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Mistake::Xml(mistake) => return mistake.help(),
            Mistake::Yaml(mistake) => return mistake.help(),
            Mistake::Unreadable { .. } | Mistake::BadToken { .. } => return None,
            Mistake::InvisibleCharacter { .. } => HELP.to_owned(),
            Mistake::EmptyValue { .. } => "give it a value".to_owned(),
            Mistake::KeyspaceTwice { .. } => "rename one of them, or merge them".to_owned(),
            Mistake::WrongRoot { .. } => {
                "a configuration is a <Storage>; a <Keyspaces> or <Keyspace> alone is accepted, too".to_owned()
            }
            Mistake::SecondRoot { .. } => "an XML file has one root element: move this into it".to_owned(),
            Mistake::NotAnInteger { given, .. } => format!("{given:?} is not a 32-bit integer"),
            Mistake::NotADouble { given, .. } => format!("{given:?} is not a number like 1 or 0.5"),
            Mistake::NotABoolean { given, .. } => format!("{given:?} is neither"),
            Mistake::NotACacheSize { given, .. } => {
                format!("{given:?} is not a count like 10000, a fraction like 0.01, or a percentage like 50%")
            }
            Mistake::OutOfBounds { given, .. } => format!("it is {given}"),
            Mistake::UnknownWord(_, choice)
            | Mistake::UnknownPartitioner(choice)
            | Mistake::UnknownAuthenticator(choice)
            | Mistake::UnknownAuthority(choice)
            | Mistake::UnknownComparator { class: choice, .. }
            | Mistake::UnknownColumnType { column_type: choice, .. } => choice.help(),
            Mistake::UnknownStrategy(choice) => {
                format!("{}\na class of your own is accepted under its own package", choice.help())
            }
            Mistake::PeriodWithBatch => {
                "remove this element, or set CommitLogSync to periodic to use it".to_owned()
            }
            Mistake::WindowWithPeriodic => {
                "remove this element, or set CommitLogSync to batch to use it".to_owned()
            }
            Mistake::LogAmongData { .. } => "give the commit log a directory of its own".to_owned(),
            Mistake::EncryptionWithout { tag } => format!(
                "write <{tag}>...</{tag}> in it: the path of a PEM file; openssl converts a Java keystore\n\
                 or disable TLS: <Enabled>false</Enabled>"
            ),
            Mistake::ClientAuthWithoutAuthorities => {
                "write <ClientCertificateAuthorities>...</ClientCertificateAuthorities> beside it: the path of a PEM file"
                    .to_owned()
            }
            Mistake::ClusterWithout { tag: "ContactPoints", .. } => {
                "write <ContactPoints><ContactPoint>HOST</ContactPoint></ContactPoints> in it: the nodes to connect to first"
                    .to_owned()
            }
            Mistake::ClusterWithout { tag, .. } => format!("write <{tag}>...</{tag}> in it"),
            Mistake::PasswordInSight => {
                "put it in a file and set <PasswordFile>...</PasswordFile>".to_owned()
            }
            Mistake::BadContactPoint { .. } => "use an address like node1.example.org, 10.0.0.1:9042 or [::1]:9042".to_owned(),
            Mistake::BadReplication { .. } => "use a value like SimpleStrategy:3, or by data centre: east:3,west:2".to_owned(),
            Mistake::KeyspaceWithoutName => "write <Keyspace Name=\"...\">".to_owned(),
            Mistake::ReservedKeyspace => "choose another name".to_owned(),
            Mistake::FamilyWithoutName => "write <ColumnFamily Name=\"...\"/>".to_owned(),
            Mistake::Hyphen { name } => format!("use underscores: {}", name.replace('-', "_")),
            Mistake::FamilyTwice { .. } => {
                "remove one of them; Cassandra silently used the later one".to_owned()
            }
            Mistake::SubcomparatorOnStandard { .. } => {
                "remove it, or add ColumnType=\"Super\" if the columns are super columns".to_owned()
            }
            Mistake::TablesOf03 | Mistake::CommitLogSyncOfBeta { .. } | Mistake::ColumnSort => {
                return self.help_about_earlier_files();
            }
        };
        Some(help)
    }

    /// Returns the advice about a setting that only files of an earlier release have.
    fn help_about_earlier_files(&self) -> Option<String> {
        let help = match self {
            Mistake::TablesOf03 => {
                "write <Keyspaces> and <Keyspace> instead of <Tables> and <Table>, and CompareWith=\"UTF8Type\" instead of \
                 ColumnSort"
            }
            Mistake::CommitLogSyncOfBeta { syncs_first: true } => {
                "the betas of 0.4 had true and false: write batch"
            }
            Mistake::CommitLogSyncOfBeta { syncs_first: false } => {
                "the betas of 0.4 had true and false: write periodic"
            }
            Mistake::ColumnSort => {
                "columns are sorted by name; to sort by time, use UUIDs as names and TimeUUIDType"
            }
            _ => return None,
        };
        Some(help.to_owned())
    }

    /// Returns whether the caret is drawn under the name of the attribute or element instead of its value.
    pub fn is_about_the_name(&self) -> bool {
        matches!(self, Mistake::ColumnSort | Mistake::PasswordInSight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_ignore_packages() {
        let choice = UnknownName::new("org.apache.cassandra.db.marshal.UTF8Typ", ["BytesType", "UTF8Type"]);
        assert_eq!(choice.help(), "did you mean UTF8Type?\nallowed: BytesType, UTF8Type");
        let own = UnknownName::new("com.example.DateTyp", ["BytesType", "com.example.DateType"]);
        assert!(own.help().starts_with("did you mean com.example.DateType?"));
        assert_eq!(UnknownName::new("Sorted", ["BytesType"]).help(), "allowed: BytesType");
    }
}
