//! Several gateways of one cluster: changes of the schema, of users and of permissions through one are served by the
//! others.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::{remote_support, support};
use base::compat::Behaviour;
use base::schema::{Catalog, KeyspaceDef};
use base::util::Release;
use bytes::BytesMut;
use db::{
    Authenticator, CfRequest, Credential, Database, Error, Hasher, KsRequest, Permission, Resource, Role,
    RoleKeeper, Roles,
};
use embedded::EmbeddedStore;
use remote_support::Cluster;
use server::thrift::{Compat, Service, Session, answer};
use store::StoreError;
use support::calls::{self, column, everything, get_slice_args, insert_args, parent, path};
use support::client::{Reply, Style};
use support::value::{Value, fields, map, structs, text};
use wire::thrift::frame::Transport;
use wire::thrift::{MessageKind, TType};

/// The longest time until an idle gateway, which looks for changes every second, serves a change.
const WATCH_PATIENCE: Duration = Duration::from_secs(20);

fn level() -> &'static Behaviour {
    Behaviour::of(Release::V2_1)
}

fn keyspace(name: &str, families: &[&str]) -> KsRequest {
    KsRequest {
        name: name.to_owned(),
        strategy_class: "SimpleStrategy".to_owned(),
        strategy_options: BTreeMap::from([("replication_factor".to_owned(), "3".to_owned())]),
        column_families: families.iter().map(|family| cf(name, family)).collect(),
        ..KsRequest::default()
    }
}

fn cf(keyspace: &str, name: &str) -> CfRequest {
    CfRequest { keyspace: keyspace.to_owned(), name: name.to_owned(), ..CfRequest::default() }
}

/// Returns the schema, as `Keyspace: Family Family`.
fn defined(database: &Database) -> Vec<String> {
    let line = |keyspace: &KeyspaceDef| {
        let families: Vec<&str> = keyspace.column_families.keys().map(String::as_str).collect();
        format!("{}: {}", keyspace.name, families.join(" "))
    };
    database.catalog().keyspaces.values().map(line).collect()
}

/// A client's connection to a gateway.
struct Client {
    service: Service,
    session: Session,
}

impl Client {
    fn of(database: &Arc<Database>) -> Client {
        Client { service: Service::new(database.clone(), Compat::default()), session: Session::default() }
    }

    async fn call(&mut self, method: &str, args: &Value) -> Reply {
        let message = Style::UNFRAMED.message(method, args, MessageKind::Call, 1).freeze();
        let mut out = BytesMut::new();
        answer(&self.service, &mut self.session, &message, None, Transport::Unframed, &mut out)
            .await
            .unwrap();
        let (_, _, reply) = Reply::read(&out.freeze()).unwrap();
        reply
    }
}

fn ks_def(name: &str, families: Vec<Value>) -> Value {
    let options = map(TType::String, vec![("replication_factor", text("3"))]);
    fields([(1, text(name)), (2, text("SimpleStrategy")), (3, options), (5, structs(families))])
}

fn cf_def(keyspace: &str, name: &str) -> Value {
    fields([(1, text(keyspace)), (2, text(name))])
}

async fn two_gateways() -> (Arc<Cluster>, Arc<Database>, Arc<Database>) {
    let cluster = Cluster::new();
    let one = cluster.gateway(Catalog::default()).await;
    let other = cluster.gateway(Catalog::default()).await;
    (cluster, one, other)
}

#[tokio::test]
async fn a_gateway_serves_at_once_what_another_has_created() {
    let (cluster, one, other) = two_gateways().await;
    let mut modern = Client::of(&one);
    let made = ks_def("Ks", vec![cf_def("Ks", "First")]);
    let made = modern.call("system_add_keyspace", &fields([(1, made)])).await;
    modern.call("set_keyspace", &fields([(1, text("Ks"))])).await.void();

    // A client of 0.6 names its keyspace in each call; one of 0.7 and later selects it.
    let mut old = Client::of(&other);
    let to_first = insert_args("Ks", b"k", path("First", None, Some(b"c")), (b"v", 1), calls::QUORUM);
    old.call("insert", &to_first).await.void();
    let get_first = fields([
        (1, text("k")),
        (2, parent("First", None)),
        (3, everything()),
        (4, Value::I32(calls::QUORUM)),
    ]);
    assert_eq!(calls::values(modern.call("get_slice", &get_first).await.value()), ["v"]);
    let mut late = Client::of(&other);
    late.call("set_keyspace", &fields([(1, text("Ks"))])).await.void();

    modern.call("system_add_column_family", &fields([(1, cf_def("Ks", "Second"))])).await.value();
    let insert = fields([
        (1, text("k")),
        (2, parent("Second", None)),
        (3, column(b"c", b"v", 1)),
        (4, Value::I32(calls::ONE)),
    ]);
    late.call("insert", &insert).await.void();

    // Now in the other direction. Both gateways describe the same schema.
    late.call("system_add_column_family", &fields([(1, cf_def("Ks", "Third"))])).await.value();
    let slice = get_slice_args("Ks", b"k", parent("Third", None), everything(), calls::ONE);
    let mut old = Client::of(&one);
    assert_eq!(calls::values(old.call("get_slice", &slice).await.value()), [""; 0]);
    for gateway in [&one, &other] {
        assert_eq!(defined(gateway), ["Ks: First Second Third"]);
    }
    assert_eq!(one.schema_version(), other.schema_version());
    assert!(*made.value() != text(one.schema_version()), "the version has not changed");
    // No gateway creates a table that another has created.
    let alters = cluster.take_log().into_iter().filter(|request| request.starts_with("alter")).count();
    assert_eq!(alters, 2 + 3, "one at each start, and one for each change");
}

#[tokio::test]
async fn describe_calls_return_the_newest_schema() {
    let (_, one, other) = two_gateways().await;
    let mut client = Client::of(&other);
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &["First"])).await.unwrap();
    client.call("describe_keyspace", &fields([(1, text("Ks"))])).await;
    assert_eq!(defined(&other), ["Ks: First"]);
    one.schema_changes(level()).add_column_family(cf("Ks", "Second")).await.unwrap();
    client.call("describe_keyspaces", &fields([])).await;
    assert_eq!(defined(&other), ["Ks: First Second"]);
    one.schema_changes(level()).drop_column_family("Ks", "First").await.unwrap();
    let versions = client.call("describe_schema_versions", &fields([])).await;
    let Value::Map(_, _, versions) = versions.value() else { panic!("no map: {versions:?}") };
    assert_eq!(versions[0].0, text(one.schema_version()));
    assert_eq!(defined(&other), ["Ks: Second"]);
    one.schema_changes(level()).add_keyspace(keyspace("More", &[])).await.unwrap();
    assert_eq!(client.call("describe_ring", &fields([(1, text("More"))])).await.value().items().len(), 1);
    one.schema_changes(level()).add_keyspace(keyspace("Most", &[])).await.unwrap();
    client.call("get_string_list_property", &fields([(1, text("keyspaces"))])).await;
    assert_eq!(defined(&other), ["Ks: Second", "More: ", "Most: "]);
}

#[tokio::test]
async fn an_idle_gateway_follows_changes_and_drops() {
    let (cluster, one, other) = two_gateways().await;
    let watching = other.stored_schema().watch().unwrap();
    let until = async |expected: &[&str]| {
        let began = Instant::now();
        while defined(&other) != expected {
            assert!(began.elapsed() < WATCH_PATIENCE, "still {:?}", defined(&other));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &["First", "Second"])).await.unwrap();
    until(&["Ks: First Second"]).await;
    one.schema_changes(level()).drop_column_family("Ks", "First").await.unwrap();
    until(&["Ks: Second"]).await;
    // Without a change the records are not read again.
    let reads = cluster.note_reads.load(Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(cluster.note_reads.load(Ordering::SeqCst), reads);
    // A gateway continues to follow after the cluster was unavailable for a while.
    cluster.fail_with(StoreError::Io("away".to_owned()));
    tokio::time::sleep(Duration::from_millis(1200)).await;
    *cluster.failure.lock() = None;
    one.schema_changes(level()).drop_keyspace("Ks").await.unwrap();
    until(&[]).await;
    let slice = get_slice_args("Ks", b"k", parent("Second", None), everything(), calls::ONE);
    let refused = Client::of(&other).call("get_slice", &slice).await;
    assert_eq!(refused.why(), "Keyspace Ks does not exist in this schema.");
    drop((one, other));
    watching.await.unwrap();
}

#[tokio::test]
async fn a_local_store_is_not_watched_for_changes() {
    let cluster = Cluster::new();
    let partitioner = cluster.partitioner.clone();
    let clock = Arc::new(base::util::Clock::system());
    let catalog = Arc::<Catalog>::default();
    let store = EmbeddedStore::in_memory(partitioner.clone(), &catalog, clock.clone()).unwrap();
    let parts = db::DatabaseParts::new(catalog, Arc::new(store), partitioner, clock);
    let database = Arc::new(Database::new(parts));
    assert!(database.stored_schema().watch().is_none());
    database.stored_schema().refresh().await.unwrap();
}

#[tokio::test]
async fn many_requests_for_unknown_keyspaces_cause_few_reads_of_the_schema() {
    let (cluster, one, _) = two_gateways().await;
    cluster.version_asks.store(0, Ordering::SeqCst);
    let began = Instant::now();
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let mut client = Client::of(&one);
        callers.spawn(async move {
            for _ in 0..4 {
                let slice = get_slice_args("No", b"k", parent("Such", None), everything(), calls::ONE);
                let refused = client.call("get_slice", &slice).await;
                assert_eq!(refused.why(), "Keyspace No does not exist in this schema.");
            }
        });
    }
    while let Some(joined) = callers.join_next().await {
        joined.unwrap();
    }
    let most = 2 + began.elapsed().as_millis() / 50;
    let asks = cluster.version_asks.load(Ordering::SeqCst) as u128;
    assert!((4..=most).contains(&asks), "{asks} reads of the version in {:?}", began.elapsed());
}

#[tokio::test]
async fn a_request_for_an_unknown_keyspace_fails_with_the_error_of_reading_the_schema() {
    let (cluster, one, _) = two_gateways().await;
    let mut client = Client::of(&one);
    let slice = get_slice_args("No", b"k", parent("Such", None), everything(), calls::ONE);
    cluster.fail_with(StoreError::TimedOut("no answer".to_owned()));
    assert_eq!(client.call("get_slice", &slice).await.thrown(3), "");
    cluster.fail_with(StoreError::Overloaded("full".to_owned()));
    assert_eq!(client.call("get_slice", &slice).await.thrown(2), "");
    let set = client.call("set_keyspace", &fields([(1, text("No"))])).await;
    assert_eq!(set.application(6), "overloaded: full");
    // A describe call returns the schema that the gateway knows.
    client.call("describe_schema_versions", &fields([])).await.value();
}

#[tokio::test]
async fn changes_of_one_keyspace_through_two_gateways_are_all_kept() {
    let (_, one, other) = two_gateways().await;
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &[])).await.unwrap();
    let mut changes = tokio::task::JoinSet::new();
    for at in 0..6 {
        let gateway = if at % 2 == 0 { one.clone() } else { other.clone() };
        changes.spawn(async move {
            gateway.schema_changes(level()).add_column_family(cf("Ks", &format!("F{at}"))).await.unwrap();
        });
    }
    while let Some(joined) = changes.join_next().await {
        joined.unwrap();
    }
    let refused = other.schema_changes(level()).add_column_family(cf("Ks", "F0")).await.unwrap_err();
    assert!(refused.to_string().contains("Cannot add already existing column family"), "{refused}");
    one.schema_changes(level()).drop_column_family("Ks", "F1").await.unwrap();
    other.schema_changes(level()).drop_column_family("Ks", "F0").await.unwrap();
    one.stored_schema().refresh().await.unwrap();
    for gateway in [&one, &other] {
        assert_eq!(defined(gateway), ["Ks: F2 F3 F4 F5"]);
    }
    let ids: std::collections::BTreeSet<i32> = one.catalog().column_families().map(|cf| cf.id).collect();
    assert_eq!(ids.len(), 4, "two column families have the same id");
    assert_eq!(one.schema_version(), other.schema_version());
}

#[tokio::test]
async fn a_change_that_conflicts_with_another_is_retried_and_finally_fails() {
    let (cluster, one, other) = two_gateways().await;
    cluster.conflicting_writes.store(3, Ordering::SeqCst);
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &["F"])).await.unwrap();
    assert_eq!(cluster.conflicting_writes.load(Ordering::SeqCst), 0);
    cluster.conflicting_writes.store(usize::MAX, Ordering::SeqCst);
    let error = one.schema_changes(level()).add_column_family(cf("Ks", "G")).await.unwrap_err();
    assert!(matches!(error, Error::SchemaDisagreement(_)), "{error:?}");
    let mut client = Client::of(&other);
    client.call("set_keyspace", &fields([(1, text("Ks"))])).await.void();
    let reply = client.call("system_add_column_family", &fields([(1, cf_def("Ks", "G"))])).await;
    assert_eq!(reply.thrown(2), "");
    cluster.conflicting_writes.store(0, Ordering::SeqCst);
    one.schema_changes(level()).add_column_family(cf("Ks", "G")).await.unwrap();
    assert_eq!(defined(&one), ["Ks: F G"]);
}

#[tokio::test]
async fn a_change_whose_answer_is_lost_is_looked_up() {
    let (cluster, one, other) = two_gateways().await;
    *cluster.loses_answer.lock() = true;
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &["F"])).await.unwrap();
    assert!(!*cluster.loses_answer.lock());
    assert_eq!(cluster.take_log().last().unwrap(), "alter F");
    other.stored_schema().refresh().await.unwrap();
    assert_eq!(defined(&other), ["Ks: F"]);
    // If the change was not applied, the client receives a time-out.
    cluster.fail_with(StoreError::TimedOut("no answer".to_owned()));
    let error = one.schema_changes(level()).add_column_family(cf("Ks", "G")).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut(_)), "{error:?}");
}

#[tokio::test]
async fn a_column_family_is_recorded_only_after_its_table_exists() {
    let (cluster, one, other) = two_gateways().await;
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &["F"])).await.unwrap();
    let version = cluster.records_version();
    *cluster.tables_failure.lock() = Some(StoreError::TimedOut("slow".to_owned()));
    let error = one.schema_changes(level()).add_column_family(cf("Ks", "G")).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut(_)), "{error:?}");
    assert_eq!(cluster.records_version(), version, "other gateways could have served it");
    *cluster.tables_failure.lock() = None;
    other.schema_changes(level()).add_column_family(cf("Ks", "G")).await.unwrap();
    one.stored_schema().refresh().await.unwrap();
    assert_eq!(defined(&one), ["Ks: F G"]);
}

#[tokio::test]
async fn a_drop_takes_effect_on_all_gateways_or_on_none() {
    let (cluster, one, other) = two_gateways().await;
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &["F", "G"])).await.unwrap();
    // No record can be written.
    cluster.fail_with(StoreError::TimedOut("no answer".to_owned()));
    one.schema_changes(level()).drop_column_family("Ks", "F").await.unwrap_err();
    *cluster.failure.lock() = None;
    for gateway in [&one, &other] {
        gateway.stored_schema().refresh().await.unwrap();
        assert_eq!(defined(gateway), ["Ks: F G"]);
    }
    // The table cannot be dropped.
    *cluster.tables_failure.lock() = Some(StoreError::TimedOut("slow".to_owned()));
    one.schema_changes(level()).drop_column_family("Ks", "F").await.unwrap();
    other.stored_schema().refresh().await.unwrap();
    for gateway in [&one, &other] {
        assert_eq!(defined(gateway), ["Ks: G"]);
    }
    assert!(cluster.tables.lock().contains("Ks.F"));
    // No gateway can create a column family of that name over the old data.
    for gateway in [&one, &other] {
        gateway.schema_changes(level()).add_column_family(cf("Ks", "F")).await.unwrap_err();
    }
    *cluster.tables_failure.lock() = None;
    cluster.take_log();
    other.schema_changes(level()).add_column_family(cf("Ks", "F")).await.unwrap();
    assert_eq!(cluster.take_log(), ["drop F", "alter G", "alter F G"]);
    one.stored_schema().refresh().await.unwrap();
    assert_eq!(defined(&one), ["Ks: F G"]);
    assert_eq!(cluster.record_names(), ["keyspace/Ks"]);
}

#[tokio::test]
async fn a_partly_dropped_keyspace_leaves_no_data_to_the_next_one_of_its_name() {
    let (cluster, one, other) = two_gateways().await;
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &["F", "G"])).await.unwrap();
    *cluster.tables_failure.lock() = Some(StoreError::TimedOut("slow".to_owned()));
    one.schema_changes(level()).drop_keyspace("Ks").await.unwrap();
    assert_eq!(defined(&one), [""; 0]);
    assert_eq!(cluster.record_names(), ["dropped/Ks", "dropped/Ks/F", "dropped/Ks/G"]);
    *cluster.tables_failure.lock() = None;
    other.schema_changes(level()).add_keyspace(keyspace("Ks", &["G"])).await.unwrap();
    assert_eq!(cluster.record_names(), ["dropped/Ks/F", "keyspace/Ks"]);
    other.schema_changes(level()).add_column_family(cf("Ks", "H")).await.unwrap();
    // Any later drop also drops the remaining table.
    one.schema_changes(level()).drop_column_family("Ks", "H").await.unwrap();
    assert_eq!(cluster.record_names(), ["keyspace/Ks"]);
    assert_eq!(cluster.tables.lock().iter().cloned().collect::<Vec<_>>(), ["Ks.G"]);
}

#[tokio::test]
async fn two_gateways_that_drop_at_the_same_time_do_not_restore_each_other_s_column_family() {
    let (cluster, one, other) = two_gateways().await;
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &["F", "G", "H"])).await.unwrap();
    other.stored_schema().refresh().await.unwrap();
    let gateway = other.clone();
    *cluster.after_drop.lock() = Some(Box::pin(async move {
        gateway.schema_changes(level()).drop_column_family("Ks", "G").await.unwrap();
    }));
    one.schema_changes(level()).drop_column_family("Ks", "F").await.unwrap();
    assert_eq!(cluster.tables.lock().iter().cloned().collect::<Vec<_>>(), ["Ks.H"]);
    assert_eq!(cluster.record_names(), ["keyspace/Ks"]);
    one.stored_schema().refresh().await.unwrap();
    for gateway in [&one, &other] {
        assert_eq!(defined(gateway), ["Ks: H"]);
    }
}

#[tokio::test]
async fn unchanged_column_families_are_shared_with_the_catalog_before() {
    let (_, one, other) = two_gateways().await;
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &["F", "G"])).await.unwrap();
    other.stored_schema().refresh().await.unwrap();
    let family = |name: &str| other.catalog().column_family("Ks", name).unwrap().clone();
    let (same, changed) = (family("F"), family("G"));
    let with_comment = CfRequest { comment: Some("new".to_owned()), ..cf("Ks", "G") };
    one.schema_changes(level()).update_column_family(with_comment).await.unwrap();
    other.stored_schema().refresh().await.unwrap();
    assert!(Arc::ptr_eq(&family("F"), &same));
    assert!(!Arc::ptr_eq(&family("G"), &changed));
}

#[tokio::test]
async fn a_server_does_not_overwrite_records_of_a_newer_one() {
    let (cluster, one, other) = two_gateways().await;
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &["F"])).await.unwrap();
    other.stored_schema().refresh().await.unwrap();
    cluster.write_record("keyspace/Ks", br#"{"version":9}"#);
    let late = cluster.gateway(Catalog::default()).await;
    assert_eq!(defined(&late), [""; 0]);
    for refused in [
        late.schema_changes(level()).add_keyspace(keyspace("Ks", &[])).await,
        other.schema_changes(level()).add_column_family(cf("Ks", "G")).await,
        other.schema_changes(level()).drop_column_family("Ks", "F").await,
    ] {
        let error = refused.unwrap_err();
        assert!(error.to_string().contains("this one cannot read it"), "{error}");
    }
    assert_eq!(cluster.record_names(), ["keyspace/Ks"]);
}

#[tokio::test]
async fn an_unreadable_record_of_a_newer_server_does_not_remove_a_keyspace() {
    let (cluster, one, other) = two_gateways().await;
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &["F"])).await.unwrap();
    one.schema_changes(level()).add_keyspace(keyspace("More", &[])).await.unwrap();
    other.stored_schema().refresh().await.unwrap();
    cluster.write_record("keyspace/Ks", br#"{"version":9}"#);
    cluster.write_record("keyspace/New", br#"{"version":9}"#);
    one.schema_changes(level()).drop_keyspace("More").await.unwrap();
    other.stored_schema().refresh().await.unwrap();
    assert_eq!(defined(&other), ["Ks: F"]);
}

#[tokio::test]
async fn keyspaces_of_the_configuration_stay_and_cannot_be_changed() {
    let cluster = Cluster::new();
    let mut configured = Catalog::default();
    let own = KeyspaceDef { is_configured: true, ..KeyspaceDef::new("Own") };
    configured.keyspaces.insert("Own".to_owned(), own);
    let one = cluster.gateway(configured.clone()).await;
    let other = cluster.gateway(configured).await;
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &[])).await.unwrap();
    other.stored_schema().refresh().await.unwrap();
    assert_eq!(defined(&other), ["Ks: ", "Own: "]);
    assert!(matches!(
        other.schema_changes(level()).drop_keyspace("Own").await,
        Err(Error::InvalidRequest(_))
    ));
    one.schema_changes(level()).drop_keyspace("Ks").await.unwrap();
    other.stored_schema().refresh().await.unwrap();
    assert_eq!(defined(&other), ["Own: "]);
    assert_eq!(one.schema_version(), other.schema_version());
}

async fn gateway_with_users(cluster: &Arc<Cluster>) -> Arc<Database> {
    let make = |mut parts: db::DatabaseParts| {
        parts.authenticator = Authenticator::Password { are_permissions_enforced: true };
        Database::new(parts).with_roles(RoleKeeper::new(Hasher::with_cost(4)))
    };
    cluster.gateway_with(Catalog::default(), make).await
}

fn credentials(name: &str, password: &str) -> Vec<Credential> {
    let pairs = [("username", name), ("password", password)];
    pairs.map(|(key, value)| (key.into(), value.to_owned().into())).to_vec()
}

#[tokio::test]
async fn all_gateways_share_users_and_permissions() {
    let cluster = Cluster::new();
    let one = gateway_with_users(&cluster).await;
    let other = gateway_with_users(&cluster).await;
    let log_in = async |gateway: &Arc<Database>, name: &str, password: &str| {
        gateway.logins().authenticate(&credentials(name, password), Release::V2_1).await
    };
    assert!(log_in(&other, "cassandra", "cassandra").await.unwrap().is_some());
    one.schema_changes(level()).add_keyspace(keyspace("Ks", &["F"])).await.unwrap();
    let salted_hash = Some(one.logins().roles().unwrap().hash("secret").await.unwrap());
    let anna = Role { can_login: true, salted_hash, ..Role::default() };
    one.logins().change_roles::<(), Error>(|roles| roles.put("anna", anna.clone())).await.unwrap();

    // Before a gateway refuses a login it reads the roles again.
    log_in(&other, "anna", "secret").await.unwrap();
    let wrong = log_in(&other, "anna", "guess").await.unwrap_err();
    assert!(matches!(wrong, Error::Authentication(_)), "{wrong:?}");

    // Both gateways grant permissions at the same time; both grants are kept.
    let resource = |name: &str| Resource::Keyspace(name.to_owned());
    let select = || [Permission::Select].into_iter().collect();
    let grant = |on: &'static str| {
        move |roles: &mut Roles| -> Result<(), Error> {
            roles.grant("anna", &resource(on), select());
            Ok(())
        }
    };
    let (of_one, of_other) = (one.logins(), other.logins());
    let (first, second) =
        tokio::join!(of_one.change_roles(grant("Ks")), of_other.change_roles(grant("Other")));
    first.unwrap();
    second.unwrap();
    one.stored_schema().refresh().await.unwrap();
    other.stored_schema().refresh().await.unwrap();
    for gateway in [&one, &other] {
        for keyspace in ["Ks", "Other"] {
            let permits =
                gateway.logins().roles().unwrap().permits("anna", Permission::Select, &resource(keyspace));
            assert!(permits, "{keyspace}");
        }
    }

    // Dropping a keyspace removes the grants on it from all gateways.
    other.schema_changes(level()).drop_keyspace("Ks").await.unwrap();
    one.stored_schema().refresh().await.unwrap();
    assert!(!one.logins().roles().unwrap().permits("anna", Permission::Select, &resource("Ks")));
    assert!(one.logins().roles().unwrap().permits("anna", Permission::Select, &resource("Other")));
}

#[tokio::test]
async fn a_role_of_a_newer_server_cannot_log_in_and_is_not_overwritten() {
    let cluster = Cluster::new();
    let one = gateway_with_users(&cluster).await;
    let salted_hash = Some(one.logins().roles().unwrap().hash("secret").await.unwrap());
    let anna = Role { can_login: true, salted_hash, ..Role::default() };
    one.logins().change_roles::<(), Error>(|roles| roles.put("anna", anna.clone())).await.unwrap();
    for name in ["role/anna", "role/cassandra"] {
        cluster.write_record(name, br#"{"version":9}"#);
    }
    one.stored_schema().refresh().await.unwrap();
    let late = gateway_with_users(&cluster).await;
    for gateway in [&one, &late] {
        for (name, password) in [("anna", "secret"), ("cassandra", "cassandra")] {
            let refused =
                gateway.logins().authenticate(&credentials(name, password), Release::V2_1).await.unwrap_err();
            assert!(matches!(refused, Error::Authentication(_)), "{refused:?}");
        }
        let written =
            gateway.logins().change_roles::<(), Error>(|roles| roles.put("anna", anna.clone())).await;
        assert!(written.unwrap_err().to_string().contains("the role anna was written by a newer server"));
    }
    one.logins().change_roles::<(), Error>(|roles| roles.put("bert", anna.clone())).await.unwrap();
    late.stored_schema().refresh().await.unwrap();
    assert!(
        late.logins().authenticate(&credentials("bert", "secret"), Release::V2_1).await.unwrap().is_some()
    );
}

#[tokio::test]
async fn one_of_two_gateways_that_start_together_creates_the_first_user() {
    let cluster = Cluster::new();
    cluster.conflicting_writes.store(1, Ordering::SeqCst);
    let one = gateway_with_users(&cluster).await;
    assert_eq!(cluster.record_names(), ["role/cassandra", "unrelated"]);
    assert!(one.logins().authenticate(&credentials("cassandra", "cassandra"), Release::V2_1).await.is_ok());
}
