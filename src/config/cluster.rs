//! `<Cluster>`: where the data are, where they are not here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::contact_point::contact_point;
use super::draft::Draft;
use super::element::{Element, Set, apply_children};
use super::elements::row;
use super::lists;
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::releases::OWN;
use super::replication::replication;
use super::settings::{Cluster, ClusterEncryption, ClusterLogin};
use super::xml::Node;

/// The element's own name.
pub const CLUSTER: &str = "Cluster";
pub const CONTACT_POINT: &str = "ContactPoint";

/// What the elements of `<Cluster>` set.
#[derive(Debug, Default)]
pub struct ClusterDraft {
    contact_points: Vec<String>,
    has_contact_points: bool,
    local_data_center: Option<String>,
    user: Option<String>,
    password_file: Option<PathBuf>,
    authorities: Option<Option<PathBuf>>,
    certificate_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
    replication: Option<BTreeMap<String, String>>,
    request_timeout_ms: Option<u64>,
    requests_max: Option<usize>,
}

pub static CLUSTER_ELEMENTS: &[Element<ClusterDraft>] = &[
    row(
        "ContactPoints",
        ("", "hosts"),
        OWN,
        "Holds `<ContactPoint>` elements: nodes to ask first, as `HOST` or `HOST:PORT`. The others are found through them. Required.",
        Set::Children(read_contact_points),
    ),
    row(
        "LocalDataCenter",
        ("that of the node that answers first", ""),
        OWN,
        "The data centre whose nodes are asked, and which LOCAL_QUORUM means.",
        Set::Value(|draft, value| {
            draft.local_data_center = Some(value.text.to_owned());
            Ok(())
        }),
    ),
    row(
        "User",
        ("", ""),
        OWN,
        "Who the server is to the cluster, for all its clients. Needs `PasswordFile`.",
        Set::Value(|draft, value| {
            draft.user = Some(value.text.to_owned());
            Ok(())
        }),
    ),
    row(
        "PasswordFile",
        ("", "path"),
        OWN,
        "A file whose first line is the password of `User`.",
        Set::Value(|draft, value| {
            draft.password_file = Some(value.text.into());
            Ok(())
        }),
    ),
    row(
        "Password",
        ("", ""),
        OWN,
        "Refused: clients may read the configuration, by `get_string_property`. `PasswordFile` takes its place.",
        Set::Value(|_, _| Err(Mistake::PasswordInSight)),
    ),
    row(
        "CertificateAuthorities",
        ("", "path"),
        OWN,
        "Nodes are spoken to over TLS, and their certificates are signed by one of those in this file, in PEM. `any`: over TLS, to whoever answers.",
        Set::Value(|draft, value| {
            draft.authorities = Some(authorities(value.text));
            Ok(())
        }),
    ),
    row(
        "CertificateFile",
        ("", "path"),
        OWN,
        "Our own certificate in PEM, where nodes ask for one, and after it those that lead to its authority.",
        Set::Value(|draft, value| {
            draft.certificate_file = Some(value.text.into());
            Ok(())
        }),
    ),
    row(
        "KeyFile",
        ("", "path"),
        OWN,
        "The private key of our certificate in PEM, without a password.",
        Set::Value(|draft, value| {
            draft.key_file = Some(value.text.into());
            Ok(())
        }),
    ),
    row(
        "Replication",
        ("that of each keyspace", ""),
        OWN,
        "How every keyspace that is made on the cluster is replicated: `SimpleStrategy:3`, or copies by data centre, `east:3,west:2`.",
        Set::Value(|draft, value| {
            let found = replication(value.text);
            draft.replication = Some(found.map_err(|reason| Mistake::BadReplication { reason })?);
            Ok(())
        }),
    ),
    row(
        "RequestTimeoutInMillis",
        ("10000", "ms"),
        OWN,
        "How long the cluster may take for a request before a client gets TimedOutException.",
        Set::Value(|draft, value| {
            draft.request_timeout_ms = Some(u64::from(value.at_least(1)?.unsigned_abs()));
            Ok(())
        }),
    ),
    row(
        "MaxRequests",
        ("2048", "requests"),
        OWN,
        "Requests that are with the cluster at one time. As many more wait; what comes then is refused.",
        Set::Value(|draft, value| {
            draft.requests_max = usize::try_from(value.at_least(1)?).ok();
            Ok(())
        }),
    ),
];

/// Where the authorities of the nodes' certificates are; `None`: they are not looked at.
pub fn authorities(text: &str) -> Option<PathBuf> {
    (text != "any").then(|| text.into())
}

pub fn read_cluster(draft: &mut Draft, node: &Node, reading: &mut ConfigReader<'_>) {
    if draft.cluster.is_some() {
        reading.note(node.name.span, || format!("a second {CLUSTER} is ignored; the first one counts"));
        return;
    }
    let mut cluster = ClusterDraft::default();
    apply_children(CLUSTER_ELEMENTS, &[], &mut cluster, node, reading);
    draft.cluster = Some(cluster.finish(node, reading));
}

fn read_contact_points(draft: &mut ClusterDraft, node: &Node, reading: &mut ConfigReader<'_>) {
    for child in lists::nodes(node, CONTACT_POINT, reading) {
        draft.has_contact_points = true;
        match contact_point(&child.text.value) {
            Ok(found) => draft.contact_points.push(found),
            Err(reason) => reading.error(child.text.span, Mistake::BadContactPoint { reason }),
        }
    }
}

impl ClusterDraft {
    /// Checks the elements together. `None` when they are wrong.
    fn finish(self, node: &Node, reading: &mut ConfigReader<'_>) -> Option<Cluster> {
        if !self.has_contact_points {
            reading.error(node.name.span, Mistake::ClusterWithout { tag: "ContactPoints", with: None });
        }
        let mut needs = |has: bool, with: &'static str, has_other: bool, tag: &'static str| {
            if let (true, false, Some(child)) = (has, has_other, node.child(with)) {
                reading.error(child.name.span, Mistake::ClusterWithout { tag, with: Some(with) });
            }
        };
        let (has_certificate, has_key) = (self.certificate_file.is_some(), self.key_file.is_some());
        needs(self.user.is_some(), "User", self.password_file.is_some(), "PasswordFile");
        needs(self.password_file.is_some(), "PasswordFile", self.user.is_some(), "User");
        needs(has_certificate, "CertificateFile", has_key, "KeyFile");
        needs(has_key, "KeyFile", has_certificate, "CertificateFile");
        needs(has_certificate, "CertificateFile", self.authorities.is_some(), "CertificateAuthorities");
        let identity = self.certificate_file.zip(self.key_file);
        Some(Cluster {
            contact_points: self.contact_points,
            local_data_center: self.local_data_center,
            login: self
                .user
                .zip(self.password_file)
                .map(|(user, password_file)| ClusterLogin { user, password_file }),
            encryption: self.authorities.map(|authorities| ClusterEncryption { authorities, identity }),
            replication: self.replication,
            request_timeout_ms: self.request_timeout_ms,
            requests_max: self.requests_max,
        })
    }
}
