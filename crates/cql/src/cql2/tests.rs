use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::CqlError;
use base::compat::Behaviour;
use base::compat::features::{Language, ReportedVersion};
use base::partitioner::Murmur3Partitioner;
use base::schema::Catalog;
use base::util::{Clock, Release};
use db::{Database, DatabaseParts};
use embedded::EmbeddedStore;

struct Session {
    database: Arc<Database>,
    keyspace: Option<String>,
    release: Release,
}

impl Session {
    fn new() -> Session {
        let clock = Arc::new(Clock::system());
        let partitioner = Arc::new(Murmur3Partitioner);
        let database = Arc::new(Database::new(DatabaseParts::new(
            Arc::new(Catalog::default()),
            Arc::new(
                EmbeddedStore::in_memory(partitioner.clone(), &Catalog::default(), clock.clone()).unwrap(),
            ),
            partitioner,
            clock,
        )));
        Session { database, keyspace: None, release: Release::V1_2 }
    }

    async fn run(&mut self, text: &str, values: &[&[u8]]) -> Result<Cql2Outcome, CqlError> {
        let behaviour = Behaviour::of(self.release);
        let state = QueryState {
            database: &self.database,
            behaviour,
            reported: ReportedVersion::of_release(behaviour),
            language: Language::Newest,
            keyspace: self.keyspace.as_deref(),
            user: None,
            sees_new_indexes: false,
        };
        let values: Vec<Bytes> = values.iter().map(|value| Bytes::copy_from_slice(value)).collect();
        let outcome = run(&state, &prepare(text)?, &values).await?;
        if let Cql2Outcome::Keyspace(name) = &outcome {
            self.keyspace = Some(name.clone());
        }
        Ok(outcome)
    }

    async fn with(statements: &[&str]) -> Session {
        let mut session = Session::new();
        let keyspace = "CREATE KEYSPACE Old WITH strategy_class = 'SimpleStrategy' AND strategy_options:replication_factor = 1;";
        for statement in [&[keyspace, "USE Old"], statements].concat() {
            session.run(statement, &[]).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        session
    }

    /// Returns the rows in the form `key: name=value@timestamp name=value; key: ...`.
    async fn rows(&mut self, text: &str) -> String {
        match self.run(text, &[]).await {
            Ok(Cql2Outcome::Rows(result)) => shown(&result),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        }
    }
}

fn shown(result: &Cql2Result) -> String {
    let text = |bytes: &Bytes| match bytes.as_ref().try_into() {
        Ok(number) if bytes.first() == Some(&0) => i64::from_be_bytes(number).to_string(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    };
    let column = |column: &Cql2Column| {
        let value = column.value.as_ref().map(|value| format!("={}", text(value))).unwrap_or_default();
        let at = column.timestamp.map(|timestamp| format!("@{timestamp}")).unwrap_or_default();
        format!(" {}{value}{at}", text(&column.name))
    };
    let row =
        |row: &Cql2Row| format!("{}:{}", text(&row.key), row.columns.iter().map(column).collect::<String>());
    result.rows.iter().map(row).collect::<Vec<_>>().join("; ")
}

const USERS: &[&str] = &[
    "CREATE COLUMNFAMILY users (KEY varchar PRIMARY KEY, password varchar, gender varchar, birth_year bigint) WITH comparator = text AND default_validation = text;",
    "INSERT INTO users (KEY, password, gender, birth_year) VALUES ('anna', 'secret', 'f', 1980) USING TIMESTAMP 10;",
    "INSERT INTO users (key, password, gender, birth_year, extra) VALUES ('bob', 'hidden', 'm', 1975, 'more') USING TIMESTAMP 10;",
];

#[tokio::test]
async fn rows_are_read_by_key() {
    let mut session = Session::with(USERS).await;
    let anna = "anna: KEY=anna@-1 birth_year=1980@10 gender=f@10 password=secret@10";
    assert_eq!(session.rows("SELECT * FROM users WHERE KEY = 'anna';").await, anna);
    assert_eq!(
        session.rows("SELECT password, nosuch, KEY FROM users WHERE key = 'bob'").await,
        "bob: password=hidden@10 nosuch KEY=bob@-1"
    );
    assert_eq!(
        session.rows("SELECT * FROM users WHERE KEY IN ('zed', 'anna')").await,
        format!("zed: KEY=zed@-1; {anna}")
    );
    assert_eq!(session.rows("SELECT password FROM users WHERE KEY = 'zed'").await, "zed:");
    assert_eq!(session.rows("SELECT * FROM users WHERE KEY = 'anna' AND KEY = 'anna'").await, anna);
    assert_eq!(session.rows("SELECT * FROM users WHERE KEY IN ('anna', 'anna')").await, anna);
    assert_eq!(
        session.rows("SELECT * FROM users WHERE KEY = 'a' AND KEY = 'b'").await,
        "You cannot use more than one KEY = in a SELECT"
    );
}

#[tokio::test]
async fn requested_names_are_returned_for_rows_with_tombstones() {
    let mut session = Session::with(USERS).await;
    let select = "SELECT KEY, nosuch, other FROM users";
    assert_eq!(session.rows(&format!("{select} WHERE KEY = 'bob'")).await, "bob: KEY=bob@-1");
    let both = session.rows(select).await;
    assert!(both.contains("bob: KEY=bob@-1 nosuch other"), "{both}");
    session.run("DELETE nosuch FROM users WHERE KEY = 'bob'", &[]).await.unwrap();
    assert_eq!(session.rows(&format!("{select} WHERE KEY = 'bob'")).await, "bob: KEY=bob@-1 nosuch other");
    session.run("DELETE FROM users WHERE KEY = 'anna'", &[]).await.unwrap();
    assert_eq!(
        session.rows("SELECT password, gender FROM users WHERE KEY = 'anna'").await,
        "anna: password gender"
    );
    assert_eq!(session.rows("SELECT password FROM users WHERE KEY = 'zed'").await, "zed:");
}

#[tokio::test]
async fn the_system_keyspace_can_be_used() {
    let mut session = Session::with(&[]).await;
    session.run("USE system", &[]).await.unwrap();
    assert_eq!(session.keyspace.as_deref(), Some("system"));
    assert!(session.run("USE nosuch", &[]).await.is_err());
}

#[tokio::test]
async fn columns_are_read_by_ranges() {
    let mut session = Session::with(USERS).await;
    let mut bob =
        async |columns: &str| session.rows(&format!("SELECT {columns} FROM users WHERE KEY = 'bob'")).await;
    assert_eq!(bob("'a'..'h'").await, "bob: birth_year=1975@10 extra=more@10 gender=m@10");
    assert_eq!(bob("FIRST 2 *").await, "bob: birth_year=1975@10 extra=more@10");
    assert_eq!(bob("FIRST 2 REVERSED *").await, "bob: password=hidden@10 gender=m@10");
    assert_eq!(
        bob("REVERSED *").await,
        "bob: password=hidden@10 gender=m@10 extra=more@10 birth_year=1975@10 KEY=bob@-1"
    );
    assert_eq!(bob("REVERSED 'h'..'e'").await, "bob: gender=m@10 extra=more@10");
    assert_eq!(bob("'h'..'e'").await, "range finish must come after start in traversal order");
}

#[tokio::test]
async fn the_schema_of_a_result_has_the_types_of_its_columns() {
    let mut session = Session::with(USERS).await;
    let Ok(Cql2Outcome::Rows(result)) = session.run("SELECT * FROM users WHERE KEY = 'bob'", &[]).await
    else {
        panic!()
    };
    let types = |types: &std::collections::BTreeMap<Bytes, String>| {
        types
            .iter()
            .map(|(name, class)| format!("{}:{class}", String::from_utf8_lossy(name)))
            .collect::<Vec<_>>()
    };
    assert_eq!(types(&result.name_types), ["KEY:AsciiType"]);
    assert_eq!(
        types(&result.value_types),
        ["KEY:UTF8Type", "birth_year:LongType", "gender:UTF8Type", "password:UTF8Type"]
    );
    assert_eq!((&*result.default_name_type, &*result.default_value_type), ("UTF8Type", "UTF8Type"));
    let Ok(Cql2Outcome::Rows(result)) = session.run("SELECT COUNT(*) FROM users", &[]).await else {
        panic!()
    };
    assert_eq!(shown(&result), "count: count=2");
    assert_eq!((&*result.default_name_type, &*result.default_value_type), ("AsciiType", "LongType"));
}

#[tokio::test]
async fn rows_are_read_by_ranges() {
    let mut session = Session::with(USERS).await;
    // The rows are in the order of the ring.
    assert_eq!(session.rows("SELECT gender FROM users").await, "anna: gender=f@10; bob: gender=m@10");
    assert_eq!(session.rows("SELECT gender FROM users LIMIT 1").await, "anna: gender=f@10");
    assert_eq!(session.rows("SELECT gender FROM users WHERE KEY > 'anna'").await, "bob: gender=m@10");
    assert_eq!(
        session.rows("SELECT gender FROM users WHERE KEY >= 'anna' LIMIT 1").await,
        "anna: gender=f@10"
    );
    assert_eq!(
        session.rows("SELECT gender FROM users WHERE KEY >= 'anna' AND KEY < 'bob'").await,
        "anna: gender=f@10"
    );
    assert_eq!(
        session.rows("SELECT gender FROM users WHERE KEY < 'bob'").await,
        "Key range clauses must include a start key (i.e. KEY > term)"
    );
    assert_eq!(
        session.rows("SELECT gender FROM users WHERE KEY > 'anna' AND KEY = 'bob'").await,
        "You cannot combine key range and by-key clauses in a SELECT"
    );
    assert_eq!(
        session.rows("SELECT gender FROM users WHERE KEY > 'bob' AND KEY < 'anna'").await,
        "Start key must sort before (or equal to) finish key in your partitioner!"
    );
    assert_eq!(session.rows("SELECT '' FROM users WHERE KEY = 'bob'").await, "zero-length column name");
    session.run("DELETE FROM users WHERE KEY = 'bob'", &[]).await.unwrap();
    assert_eq!(session.rows("SELECT KEY FROM users WHERE KEY > 'anna'").await, "bob: KEY=bob@-1");
}

#[tokio::test]
async fn rows_are_read_by_indexes() {
    let mut session = Session::with(USERS).await;
    let none = "No indexed columns present in by-columns clause with \"equals\" operator";
    assert_eq!(session.rows("SELECT KEY FROM users WHERE birth_year = 1975").await, none);
    assert_eq!(session.rows("SELECT KEY FROM users WHERE nosuch = 'a'").await, none);
    session.run("CREATE INDEX users_birth ON users (birth_year)", &[]).await.unwrap();
    assert_eq!(session.rows("CREATE INDEX ON users (birth_year)").await, "Index already exists");
    // The index is built in the background, as on the old servers.
    for _ in 0..1_000 {
        if !session.rows("SELECT KEY FROM users WHERE birth_year = 1975").await.is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(
        session.rows("SELECT KEY FROM users WHERE birth_year = 1975 AND gender = 'm'").await,
        "bob: KEY=bob@-1"
    );
    assert_eq!(session.rows("SELECT KEY FROM users WHERE birth_year = 1975 AND gender = 'f'").await, "");
    assert_eq!(session.rows("SELECT KEY FROM users WHERE birth_year > 1970 AND gender = 'm'").await, none);
    assert_eq!(
        session.rows("SELECT KEY FROM users WHERE KEY > 'a' AND KEY < 'x' AND birth_year = 1").await,
        "You cannot combine key range and by-column clauses in a SELECT"
    );
    session.run("DROP INDEX users_birth", &[]).await.unwrap();
    assert_eq!(session.rows("SELECT KEY FROM users WHERE birth_year = 1975").await, none);
    assert_eq!(
        session.rows("DROP INDEX users_birth").await,
        "Index 'users_birth' could not be found in any of the column families of keyspace 'Old'"
    );
}

#[tokio::test]
async fn names_are_parsed_by_the_comparator() {
    let mut session = Session::with(&[
        "CREATE COLUMNFAMILY timeline (userid varchar PRIMARY KEY) WITH comparator = bigint AND default_validation = blob",
        "INSERT INTO timeline (userid, 3, 1, 2) VALUES ('anna', '6363', '6161', '6262') USING TIMESTAMP 10",
    ])
    .await;
    assert_eq!(session.rows("SELECT * FROM timeline").await, "anna: userid=anna@-1 1=aa@10 2=bb@10 3=cc@10");
    assert_eq!(
        session.rows("SELECT 1..2 FROM timeline WHERE userid = 'anna'").await,
        "anna: 1=aa@10 2=bb@10"
    );
    assert_eq!(
        session.rows("SELECT 3, 1 FROM timeline WHERE userid = 'anna'").await,
        "anna: 3=cc@10 1=aa@10"
    );
    assert_eq!(
        session.rows("INSERT INTO timeline (userid, abc) VALUES ('anna', 'cc')").await,
        "unable to make long from 'abc'"
    );
    assert_eq!(
        session.rows("INSERT INTO timeline (KEY, 1) VALUES ('anna', 'cc')").await,
        "Expected key 'userid' to be present in WHERE clause for 'timeline'"
    );
}

#[tokio::test]
async fn rows_are_changed() {
    let mut session = Session::with(USERS).await;
    for statement in [
        "UPDATE users USING CONSISTENCY QUORUM AND TIMESTAMP 11 SET password = 'new', 'full name' = 'Anna A' WHERE KEY = 'anna'",
        "DELETE gender FROM users USING TIMESTAMP 12 WHERE KEY IN ('anna', 'bob')",
        "BEGIN BATCH USING TIMESTAMP 20 INSERT INTO users (KEY, password) VALUES ('eve', 'e') UPDATE users SET gender = 'f' WHERE KEY = 'eve'; DELETE password FROM users WHERE KEY = 'bob' APPLY BATCH;",
    ] {
        assert_eq!(session.run(statement, &[]).await.unwrap(), Cql2Outcome::Void);
    }
    assert_eq!(
        session.rows("SELECT * FROM users WHERE KEY IN ('eve', 'bob', 'anna')").await,
        "eve: KEY=eve@-1 gender=f@20 password=e@20; bob: KEY=bob@-1 birth_year=1975@10 extra=more@10; \
         anna: KEY=anna@-1 birth_year=1980@10 full name=Anna A@11 password=new@11"
    );
    session.run("TRUNCATE users", &[]).await.unwrap();
    assert_eq!(session.rows("SELECT * FROM users").await, "");
    assert_eq!(
        session.rows("BEGIN BATCH USING TTL 5 APPLY BATCH").await,
        "Global TTL on the BATCH statement is not supported."
    );
    assert_eq!(
        session.rows("INSERT INTO users (KEY, birth_year) VALUES ('carl', 'x')").await,
        "unable to make long from 'x'"
    );
}

#[tokio::test]
async fn a_limit_of_no_rows_is_accepted() {
    let mut session = Session::with(USERS).await;
    assert_eq!(session.rows("SELECT gender FROM users LIMIT 0").await, "");
    assert_eq!(session.rows("SELECT gender FROM users WHERE KEY >= 'anna' LIMIT 0").await, "");
}

#[tokio::test]
async fn counters_count() {
    let mut session = Session::with(&[
        "CREATE COLUMNFAMILY hits (page varchar PRIMARY KEY) WITH comparator = text AND default_validation = counter",
        "UPDATE hits SET home = home + 5 WHERE page = 'p'",
        "UPDATE hits SET home = home - 2, about = about + 1, x = x -1, x = x + 2 WHERE page = 'p'",
    ])
    .await;
    let Ok(Cql2Outcome::Rows(result)) =
        session.run("SELECT home, about, x FROM hits WHERE page = 'p'", &[]).await
    else {
        panic!()
    };
    let counts =
        result.rows[0].columns.iter().map(|column| column.value.as_ref().unwrap()[7]).collect::<Vec<_>>();
    assert_eq!(counts, [3, 1, 1]);
    assert_eq!(
        session.rows("UPDATE hits SET home = 5 WHERE page = 'p'").await,
        "invalid operation for commutative columnfamily hits"
    );
}

#[tokio::test]
async fn markers_may_be_column_names() {
    let mut session = Session::with(USERS).await;
    let insert = "INSERT INTO users (KEY, ?) VALUES (?, ?)";
    assert_eq!(prepare(insert).unwrap().markers, 3);
    session.run(insert, &[b"city", b"dora", b"Rome"]).await.unwrap();
    let select = "SELECT ? FROM users WHERE KEY = ?";
    let Ok(Cql2Outcome::Rows(result)) = session.run(select, &[b"city", b"dora"]).await else { panic!() };
    assert_eq!(result.rows[0].columns[0].value.as_deref(), Some(&b"Rome"[..]));
    assert_eq!(
        session.run(select, &[b"city"]).await.unwrap_err().to_string(),
        "there were 2 markers(?) in CQL but 1 bound variables"
    );
}

#[tokio::test]
async fn definitions_change() {
    let mut session = Session::with(USERS).await;
    for statement in [
        "ALTER TABLE users ADD city varchar",
        "ALTER TABLE users ALTER city TYPE ascii",
        "ALTER TABLE users DROP gender",
        "ALTER COLUMNFAMILY users WITH comment = 'people' AND gc_grace_seconds = 1000 AND caching = all AND compression_parameters:chunk_length_kb = 64",
    ] {
        session.run(statement, &[]).await.unwrap();
    }
    let catalog = session.database.catalog();
    let cf = catalog.column_family("Old", "users").unwrap().clone();
    drop(catalog);
    let names: Vec<_> =
        cf.column_metadata.keys().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    assert_eq!(names, ["birth_year", "city", "password"]);
    assert_eq!((cf.comment.as_deref(), cf.gc_grace_s), (Some("people"), 1000));
    drop(cf);
    let cases = [
        (
            "CREATE COLUMNFAMILY users (KEY varchar PRIMARY KEY)",
            "org.apache.cassandra.exceptions.AlreadyExistsException: Cannot add already existing column family \
             \"users\" to keyspace \"Old\"",
        ),
        ("CREATE COLUMNFAMILY other (a varchar)", "You must specify a PRIMARY KEY"),
        ("CREATE KEYSPACE New WITH durable_writes = true", "missing required argument \"strategy_class\""),
        ("SELECT * FROM nosuch", "unconfigured columnfamily nosuch"),
        ("USE nosuch", "Keyspace 'nosuch' does not exist"),
        ("DROP COLUMNFAMILY users", "Void"),
        ("DROP COLUMNFAMILY users", "unconfigured columnfamily users"),
        ("DROP KEYSPACE Old", "Void"),
    ];
    for (statement, expected) in cases {
        assert_eq!(session.rows(statement).await, expected, "{statement}");
    }
    let mut homeless = Session::new();
    assert_eq!(homeless.rows("SELECT * FROM users").await, "no keyspace has been specified");
}

#[tokio::test]
async fn points_in_time_are_values_of_uuids() {
    let create = "CREATE COLUMNFAMILY t (KEY varchar PRIMARY KEY, t TimeUUIDType, u uuid, d timestamp)";
    let mut session = Session::with(&[create]).await;
    let mut written = async |release, column: &str, text: &str| {
        session.release = release;
        let update = format!("UPDATE t SET {column} = '{text}' WHERE KEY = 'k'");
        session.run(&update, &[]).await.map_err(|error| error.to_string())?;
        match session.run(&format!("SELECT {column} FROM t WHERE KEY = 'k'"), &[]).await {
            Ok(Cql2Outcome::Rows(result)) => {
                Ok::<Bytes, String>(result.rows[0].columns[0].value.clone().unwrap())
            }
            other => panic!("{other:?}"),
        }
    };
    let ms_of = |uuid: &Bytes| {
        let uuid = uuid::Uuid::from_slice(uuid).unwrap();
        assert_eq!(uuid.get_version_num(), 1);
        let (seconds, nanos) = uuid.get_timestamp().unwrap().to_unix();
        seconds * 1000 + u64::from(nanos) / 1_000_000
    };
    for release in [Release::V0_8, Release::V1_1, Release::V1_2, Release::V2_1] {
        for column in ["t", "u"] {
            for text in ["1250553600000", "2009-08-18", "2009-08-18 02:00+0200", "2009-08-18T00:00:00"] {
                let value = written(release, column, text).await.unwrap();
                assert_eq!(ms_of(&value), 1_250_553_600_000, "{release} {column} {text}");
            }
            let uuid = "d3010000-4644-11ea-8000-7f0000000001";
            let value = written(release, column, uuid).await.unwrap();
            assert_eq!(uuid::Uuid::from_slice(&value).unwrap().to_string(), uuid);
        }
    }
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let now = written(Release::V1_1, "t", "NOW").await.unwrap();
    assert!(u128::from(ms_of(&now)) >= before);
    let now = written(Release::V1_1, "d", "now").await.unwrap();
    assert!(u128::from(u64::from_be_bytes(now[..].try_into().unwrap())) >= before);
    let cases = [
        (Release::V1_0, "t", "soon", "unable to coerce 'soon' to version 1 UUID"),
        (Release::V1_1, "t", "soon", "unable to coerce 'soon' to a  formatted date (long)"),
        (Release::V1_2, "u", "soon", "unable to coerce 'soon' to version 1 UUID"),
        (Release::V2_1, "u", "soon", "unable to make version 1 UUID from 'soon'"),
        (
            Release::V1_0,
            "t",
            "99999999999999999999",
            "unable to make version 1 UUID from '99999999999999999999'",
        ),
        (
            Release::V1_2,
            "t",
            "99999999999999999999",
            "unable to make long (for date) from: '99999999999999999999'",
        ),
    ];
    for (release, column, text, why) in cases {
        assert_eq!(written(release, column, text).await.unwrap_err(), why, "{release} {column}");
    }
}

#[test]
fn syntax_errors_have_position_and_context() {
    let cases = [
        ("SELEC * FROM users;", "line 1:0 no viable alternative at input 'SELEC'"),
        (
            "INSERT INTO users (KEY) VALUES ('dora');",
            "line 1:22 required (...)+ loop did not match anything at input ')'",
        ),
        ("SELECT * FROM t USING CONSISTENCY NOSUCH", "line 1:34 mismatched input 'NOSUCH' expecting K_LEVEL"),
        ("INSERT INTO t (KEY, a) VALUES ('a')", "unmatched column names/values"),
        ("SELECT * FROM t x y", "line 1:16 missing EOF at 'x'"),
    ];
    for (text, expected) in cases {
        assert_eq!(prepare(text).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn the_number_of_statements_in_a_batch_and_of_properties_is_limited() {
    let batch =
        |count: usize| format!("BEGIN BATCH {} APPLY BATCH", "DELETE FROM t WHERE KEY = 'a' ".repeat(count));
    prepare(&batch(65_535)).unwrap();
    let why = prepare(&batch(65_536)).unwrap_err().to_string();
    assert_eq!(why, "A batch can have 65535 statements at most");
    let table = |count: usize| {
        let properties: Vec<String> = (0..count).map(|number| format!("p{number} = 1")).collect();
        format!("CREATE COLUMNFAMILY t (KEY varchar PRIMARY KEY) WITH {}", properties.join(" AND "))
    };
    prepare(&table(1_000)).unwrap();
    let why = prepare(&table(1_001)).unwrap_err().to_string();
    assert_eq!(why, "There can be 1000 properties at most");
}

proptest! {
    #[test]
    fn no_sequence_of_words_panics(words in prop::collection::vec(prop::sample::select(vec![
        "SELECT", "FIRST", "REVERSED", "*", "COUNT", "(", ")", "FROM", "t", "WHERE", "KEY", "=", "IN", "'a'", "..", "1",
        "-2", "AND", "USING", "CONSISTENCY", "ONE", "TIMESTAMP", "INSERT", "INTO", "VALUES", ",", "UPDATE", "SET", "+",
        "DELETE", "BEGIN", "BATCH", "APPLY", "CREATE", "COLUMNFAMILY", "ALTER", "DROP", "INDEX", "ON", "?", ":", "é",
        "WITH", "PRIMARY", ";", ">", "9999999999999999999999",
    ]), 0..25)) {
        let _ = prepare(&words.join(" "));
    }
}

#[tokio::test]
async fn the_one_of_count_is_a_column_name() {
    let tables = ["bytes WITH comparator = blob", "numbers WITH comparator = bigint"];
    let create = tables.map(|table| {
        let (name, with) = table.split_once(' ').unwrap();
        format!("CREATE COLUMNFAMILY {name} (KEY varchar PRIMARY KEY) {with}")
    });
    let mut session = Session::with(&[&create[0], &create[1]]).await;
    let error = session.run("SELECT COUNT(1) FROM bytes WHERE KEY = 'k'", &[]).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot parse '1' as hex bytes");
    session.run("SELECT COUNT(*) FROM bytes WHERE KEY = 'k'", &[]).await.unwrap();
    session.run("SELECT COUNT(1) FROM numbers WHERE KEY = 'k'", &[]).await.unwrap();
}
