//! `<Cluster>`: the cluster that stores the data, if this server is a gateway.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::contact_point::contact_point;
use super::draft::Draft;
use super::element::{Element, Set, apply_children, row};
use super::lists;
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::releases::OWN;
use super::replication::replication;
use super::settings::{Cluster, ClusterEncryption, ClusterLogin};
use super::xml::Node;

/// The name of the element.
pub const CLUSTER: &str = "Cluster";
pub const CONTACT_POINT: &str = "ContactPoint";

/// The values of the elements of `<Cluster>`.
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
        "",
        "hosts",
        OWN,
        "Contains `<ContactPoint>` elements: the nodes to connect to first, as `HOST` or `HOST:PORT`. They report the other nodes. Required.",
        Set::Children(read_contact_points),
    ),
    row(
        "LocalDataCenter",
        "that of the first node that answers",
        "",
        OWN,
        "The data centre of the nodes that requests are sent to, and of LOCAL_QUORUM.",
        Set::Value(|draft, value| {
            draft.local_data_center = Some(value.text.to_owned());
            Ok(())
        }),
    ),
    row(
        "User",
        "",
        "",
        OWN,
        "The user with which the server logs in to the cluster, for all its clients. Needs `PasswordFile`.",
        Set::Value(|draft, value| {
            draft.user = Some(value.text.to_owned());
            Ok(())
        }),
    ),
    row(
        "PasswordFile",
        "",
        "path",
        OWN,
        "A file whose first line is the password of `User`.",
        Set::Value(|draft, value| {
            draft.password_file = Some(value.text.into());
            Ok(())
        }),
    ),
    row(
        "Password",
        "",
        "",
        OWN,
        "Refused, because clients can read the configuration with `get_string_property`. Use `PasswordFile`.",
        Set::Value(|_, _| Err(Mistake::PasswordInSight)),
    ),
    row(
        "CertificateAuthorities",
        "",
        "path",
        OWN,
        "The authorities that sign the nodes' certificates, as a PEM file. Enables TLS to the nodes. `any`: TLS without a check of certificates.",
        Set::Value(|draft, value| {
            draft.authorities = Some(authorities(value.text));
            Ok(())
        }),
    ),
    row(
        "CertificateFile",
        "",
        "path",
        OWN,
        "The certificate of this server in PEM, followed by its intermediate certificates, if nodes require one.",
        Set::Value(|draft, value| {
            draft.certificate_file = Some(value.text.into());
            Ok(())
        }),
    ),
    row(
        "KeyFile",
        "",
        "path",
        OWN,
        "The private key of `CertificateFile` in PEM, without a password.",
        Set::Value(|draft, value| {
            draft.key_file = Some(value.text.into());
            Ok(())
        }),
    ),
    row(
        "Replication",
        "that of each keyspace",
        "",
        OWN,
        "The replication of all keyspaces that the server creates on the cluster: `SimpleStrategy:3`, or copies by data centre, `east:3,west:2`.",
        Set::Value(|draft, value| {
            let found = replication(value.text);
            draft.replication = Some(found.map_err(|reason| Mistake::BadReplication { reason })?);
            Ok(())
        }),
    ),
    row(
        "RequestTimeoutInMillis",
        "10000",
        "ms",
        OWN,
        "How long the cluster may take for a request before a client gets TimedOutException.",
        Set::Value(|draft, value| {
            draft.request_timeout_ms = Some(u64::from(value.at_least(1)?.unsigned_abs()));
            Ok(())
        }),
    ),
    row(
        "MaxRequests",
        "2048",
        "requests",
        OWN,
        "Requests that the server sends to the cluster at the same time. As many more wait; further ones are refused.",
        Set::Value(|draft, value| {
            draft.requests_max = usize::try_from(value.at_least(1)?).ok();
            Ok(())
        }),
    ),
];

/// Returns the file of the authorities of the nodes' certificates; `None` if certificates are not checked.
pub fn authorities(text: &str) -> Option<PathBuf> {
    (text != "any").then(|| text.into())
}

pub fn read_cluster(draft: &mut Draft, node: &Node, reading: &mut ConfigReader<'_>) {
    if draft.cluster.is_some() {
        reading.warn(node.name.span, || format!("a second {CLUSTER} is ignored; the first one counts"));
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
    /// Checks the elements together. Returns `None` if they are wrong.
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
