//! Tests the graph of roles and its rights against a reference model that computes the transitive closure naively.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use base::util::{Clock, Release};
use embedded::EmbeddedStore;
use store::{Store, StoreChange};

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[derive(Debug, Clone)]
enum Step {
    Join(usize, usize),
    Leave(usize, usize),
    Grant(usize, usize, usize),
    Revoke(usize, usize, usize),
    Remove(usize),
    Make(usize, bool),
    Forget(usize),
}

fn resources() -> Vec<Resource> {
    let text = str::to_owned;
    vec![
        Resource::AllKeyspaces,
        Resource::Keyspace(text("k")),
        Resource::Keyspace(text("l")),
        Resource::Table(text("k"), text("t")),
        Resource::Table(text("k"), text("u")),
        Resource::Table(text("l"), text("t")),
        Resource::AllRoles,
        Resource::Role(text("a")),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (role, resource, permission) = (0..NAMES.len(), 0..resources().len(), 0..Permission::ALL.len());
    let step = prop_oneof![
        4 => (role.clone(), role.clone()).prop_map(|(a, b)| Step::Join(a, b)),
        1 => (role.clone(), role.clone()).prop_map(|(a, b)| Step::Leave(a, b)),
        4 => (role.clone(), resource.clone(), permission.clone()).prop_map(|(a, r, p)| Step::Grant(a, r, p)),
        1 => (role.clone(), resource.clone(), permission).prop_map(|(a, r, p)| Step::Revoke(a, r, p)),
        1 => role.clone().prop_map(Step::Remove),
        2 => (role, prop::bool::weighted(0.1)).prop_map(|(a, is_super)| Step::Make(a, is_super)),
        1 => (1..resource.end).prop_map(Step::Forget),
    ];
    prop::collection::vec(step, 0..60)
}

/// The reference model: everything as plain relations.
#[derive(Debug, Default)]
struct Model {
    roles: BTreeMap<usize, bool>,
    joined: BTreeSet<(usize, usize)>,
    granted: BTreeSet<(usize, usize, usize)>,
}

impl Model {
    /// Returns all direct and indirect memberships; every role is a member of itself.
    fn closure(&self) -> BTreeSet<(usize, usize)> {
        let mut all: BTreeSet<(usize, usize)> = self.roles.keys().map(|role| (*role, *role)).collect();
        loop {
            let further = all.iter().flat_map(|(a, b)| {
                self.joined.iter().filter(move |(from, _)| from == b).map(move |(_, to)| (*a, *to))
            });
            let more: BTreeSet<_> = all.union(&further.collect()).copied().collect();
            if more.len() == all.len() {
                return all;
            }
            all = more;
        }
    }

    /// Returns whether a resource equals another one or is in it.
    fn is_in(inner: &Resource, outer: &Resource) -> bool {
        match (inner, outer) {
            (inner, outer) if inner == outer => true,
            (Resource::Keyspace(_) | Resource::Table(..), Resource::AllKeyspaces) => true,
            (Resource::Table(of, _), Resource::Keyspace(keyspace)) => of == keyspace,
            (Resource::Role(_), Resource::AllRoles) => true,
            _ => false,
        }
    }

    fn allows(&self, role: usize, permission: usize, resource: &Resource) -> bool {
        let closure = self.closure();
        let mine = closure.iter().filter(|(member, _)| *member == role).map(|(_, of)| *of);
        mine.into_iter().any(|one| {
            self.roles.get(&one) == Some(&true)
                || self.granted.iter().any(|(to, on, what)| {
                    *to == one && *what == permission && Model::is_in(resource, &resources()[*on])
                })
        })
    }

    fn apply(&mut self, step: &Step) -> bool {
        let has = |model: &Model, role: &usize| model.roles.contains_key(role);
        match step {
            Step::Join(member, of) => {
                let closure = self.closure();
                let is_free = has(self, member)
                    && has(self, of)
                    && !closure.contains(&(*member, *of))
                    && !closure.contains(&(*of, *member));
                is_free && self.joined.insert((*member, *of))
            }
            Step::Leave(member, of) => self.joined.remove(&(*member, *of)),
            Step::Grant(to, on, what) => has(self, to) && self.granted.insert((*to, *on, *what)),
            Step::Revoke(from, on, what) => self.granted.remove(&(*from, *on, *what)),
            Step::Remove(role) => {
                self.joined.retain(|(member, of)| member != role && of != role);
                let itself = Resource::Role(NAMES[*role].to_owned());
                self.granted.retain(|(to, on, _)| to != role && resources()[*on] != itself);
                self.roles.remove(role).is_some()
            }
            Step::Make(role, is_super) => !has(self, role) && self.roles.insert(*role, *is_super).is_none(),
            Step::Forget(dropped) => {
                let dropped = &resources()[*dropped];
                let is_gone = |on: &usize| match dropped {
                    Resource::Keyspace(_) => Model::is_in(&resources()[*on], dropped),
                    other => resources()[*on] == *other,
                };
                self.granted.retain(|(_, on, _)| !is_gone(on));
                true
            }
        }
    }
}

fn apply(roles: &mut Roles, step: &Step) -> bool {
    let one = |what: &usize| [Permission::ALL[*what]].into_iter().collect();
    match step {
        Step::Join(member, of) => {
            let (member, of) = (NAMES[*member], NAMES[*of]);
            roles.contains(member) && roles.contains(of) && roles.join(member, of).is_ok()
        }
        Step::Leave(member, of) => roles.leave(NAMES[*member], NAMES[*of]).is_ok(),
        Step::Grant(to, on, what) => {
            let before = roles.get(NAMES[*to]).cloned();
            roles.grant(NAMES[*to], &resources()[*on], one(what));
            before.is_some() && roles.get(NAMES[*to]).cloned() != before
        }
        Step::Revoke(from, on, what) => {
            let before = roles.get(NAMES[*from]).cloned();
            roles.revoke(NAMES[*from], &resources()[*on], one(what));
            roles.get(NAMES[*from]).cloned() != before
        }
        Step::Remove(role) => {
            let was_there = roles.contains(NAMES[*role]);
            roles.remove(NAMES[*role]);
            was_there
        }
        Step::Make(role, is_superuser) => {
            let name = NAMES[*role];
            let made = Role { is_superuser: *is_superuser, ..Role::default() };
            !roles.contains(name) && roles.put(name, made).is_ok()
        }
        Step::Forget(dropped) => {
            roles.forget(&resources()[*dropped]);
            true
        }
    }
}

proptest! {
    #[test]
    fn rights_equal_those_of_the_transitive_closure(steps in steps()) {
        let (mut roles, mut model) = (Roles::default(), Model::default());
        for step in &steps {
            prop_assert_eq!(apply(&mut roles, step), model.apply(step), "{:?}", step);
        }
        roles.settle();
        let closure = model.closure();
        for (role, name) in NAMES.iter().enumerate() {
            let all: BTreeSet<&str> =
                closure.iter().filter(|(member, _)| *member == role).map(|(_, of)| NAMES[*of]).collect();
            prop_assert_eq!(roles.all_of(name), all);
            for (at, permission) in Permission::ALL.iter().copied().enumerate() {
                for resource in resources() {
                    let expected = model.allows(role, at, &resource);
                    prop_assert_eq!(roles.allow(name, permission, &resource), expected, "{} {:?}", name, resource);
                }
            }
        }
    }
}

fn store() -> EmbeddedStore {
    let partitioner = base::partitioner::resolve("RandomPartitioner").unwrap();
    let clock = std::sync::Arc::new(Clock::manual(0));
    EmbeddedStore::in_memory(partitioner, &base::schema::Catalog::default(), clock).unwrap()
}

fn credentials(name: &str, password: &str) -> Vec<crate::Credential> {
    [("username", name), ("password", password)]
        .map(|(key, value)| (key.into(), bytes::Bytes::copy_from_slice(value.as_bytes())))
        .to_vec()
}

#[tokio::test]
async fn only_the_first_start_creates_a_superuser() {
    let store = store();
    let keeper = RoleKeeper::new(Hasher::with_cost(4));
    keeper.set_up(&store).await.unwrap();
    let login = |name: &'static str, password: &'static str| credentials(name, password);
    assert_eq!(
        keeper.authenticate(&login("cassandra", "cassandra"), Release::V2_1).await.unwrap(),
        "cassandra"
    );
    let rename = |roles: &mut Roles| {
        let role = roles.get("cassandra").cloned().unwrap_or_default();
        roles.remove("cassandra");
        roles.put("root", role)
    };
    keeper.change(&store, rename).await.unwrap();

    let again = RoleKeeper::new(Hasher::with_cost(4));
    again.load(&store.records().await.unwrap()).unwrap();
    again.set_up(&store).await.unwrap();
    let wrong = again.authenticate(&login("cassandra", "cassandra"), Release::V2_1).await.unwrap_err();
    assert_eq!(wrong.to_string(), "Username and/or password are incorrect");
    assert_eq!(again.authenticate(&login("root", "cassandra"), Release::V2_1).await.unwrap(), "root");
    assert!(again.now().is_superuser("root"));
}

#[tokio::test]
async fn a_change_that_fails_changes_nothing() {
    let store = store();
    let keeper = RoleKeeper::new(Hasher::with_cost(4));
    let edit = |roles: &mut Roles| {
        roles.put("anna", Role::default())?;
        roles.join("anna", "anna")
    };
    let error = keeper.change(&store, edit).await.unwrap_err();
    assert_eq!(error.to_string(), "anna is a member of anna");
    assert!(!keeper.now().contains("anna") && store.records().await.unwrap().is_empty());
    let record = (format!("{}anna", "role/"), Some(bytes::Bytes::from_static(br#"{"version":9}"#)));
    store.change_schema(StoreChange::of_records(vec![record])).await.unwrap();
    assert!(keeper.load(&store.records().await.unwrap()).is_err(), "a form of the future is refused");
}

#[tokio::test]
async fn passwords_longer_than_bcrypt_reads_are_refused() {
    let hasher = Hasher::with_cost(4);
    let longest = "x".repeat(72);
    let hash = hasher.hash(&longest).await.unwrap();
    assert!(hasher.is_of(Some(&hash), longest.as_bytes()).await.unwrap());
    assert!(!hasher.is_of(Some(&hash), &longest.as_bytes()[1..]).await.unwrap());
    assert!(!hasher.is_of(None, longest.as_bytes()).await.unwrap());
    for refused in [&*"x".repeat(73), "a\0b"] {
        let error = hasher.hash(refused).await.unwrap_err();
        assert!(matches!(error, crate::Error::InvalidRequest(_)), "{error}");
    }
    for wrong in ["", "a\0b", &"y".repeat(1000)] {
        assert!(!hasher.is_of(Some(&hash), wrong.as_bytes()).await.unwrap(), "{wrong:?}");
        assert!(!hasher.is_of(None, wrong.as_bytes()).await.unwrap(), "{wrong:?}");
    }
}

#[test]
fn the_number_of_roles_is_limited() {
    let mut roles = Roles::default();
    for number in 0..crate::limits::ROLES_MAX {
        roles.put(&format!("role{number}"), Role::default()).unwrap();
    }
    let error = roles.put("one_more", Role::default()).unwrap_err();
    assert_eq!(error.to_string(), "this server stores at most 2000 roles: drop some first");
    roles.put("role7", Role::default()).unwrap();
}
