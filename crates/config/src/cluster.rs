//! `<Cluster>`: the cluster that stores the data, if this server is a gateway.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::apply::apply_children;
use super::contact_point::contact_point;
use super::draft::Draft;
use super::lists;
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::releases::OWN;
use super::replication::replication;
use super::setting::{ConfigSetting, EXTENSION, SettingParts, assign, element, row};
use super::settings::{Cluster, ClusterEncryption, ClusterLogin};
use super::xml::XmlNode;

/// The name of the element.
pub(crate) const CLUSTER: &str = "Cluster";
pub(crate) const CONTACT_POINT: &str = "ContactPoint";

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

/// The elements of `<Cluster>`.
pub static CLUSTER_SETTINGS: &[ConfigSetting<ClusterDraft>] = &[
    own("ContactPoints", "hosts")
        .meaning(
            "Contains `<ContactPoint>` elements: the nodes to connect to first, as `HOST` or `HOST:PORT`. They report \
             the other nodes. Required.",
        )
        .reads(read_contact_points),
    own("LocalDataCenter", "")
        .default("that of the first node that answers")
        .meaning("The data centre of the nodes that requests are sent to, and of LOCAL_QUORUM.")
        .sets(|draft, value| assign(&mut draft.local_data_center, value.not_empty())),
    own("User", "")
        .meaning(
            "The user with which the server logs in to the cluster, for all its clients. Needs `PasswordFile`.",
        )
        .sets(|draft, value| assign(&mut draft.user, value.not_empty())),
    own("PasswordFile", "path")
        .meaning("A file whose first line is the password of `User`.")
        .sets(|draft, value| assign(&mut draft.password_file, value.path())),
    own("Password", "")
        .meaning(
            "Refused, because clients can read the configuration with `get_string_property`. Use `PasswordFile`.",
        )
        .sets(|_, _| Err(Mistake::PasswordInSight)),
    own("CertificateAuthorities", "path")
        .meaning(
            "The authorities that sign the nodes' certificates, as a PEM file. Enables TLS to the nodes. `any`: TLS \
             without a check of certificates.",
        )
        .sets(|draft, value| assign(&mut draft.authorities, Ok(authorities(value.text)))),
    own("CertificateFile", "path")
        .meaning(
            "The certificate of this server in PEM, followed by its intermediate certificates, if nodes require one.",
        )
        .sets(|draft, value| assign(&mut draft.certificate_file, value.path())),
    own("KeyFile", "path")
        .meaning("The private key of `CertificateFile` in PEM, without a password.")
        .sets(|draft, value| assign(&mut draft.key_file, value.path())),
    own("Replication", "")
        .default("that of each keyspace")
        .meaning(
            "The replication of all keyspaces that the server creates on the cluster: `SimpleStrategy:3`, or copies by \
             data centre, `east:3,west:2`.",
        )
        .sets(|draft, value| {
            let parsed = replication(value.text).map_err(|reason| Mistake::BadReplication { reason });
            assign(&mut draft.replication, parsed)
        }),
    own("RequestTimeoutInMillis", "ms")
        .default("10000")
        .meaning("How long the cluster may take for a request before a client gets TimedOutException.")
        .sets(|draft, value| assign(&mut draft.request_timeout_ms, value.time_limit_ms())),
    own("MaxRequests", "requests")
        .default("2048")
        .meaning(
            "Requests that the server sends to the cluster at the same time. As many more wait; further ones are \
             refused.",
        )
        .sets(|draft, value| {
            draft.requests_max = usize::try_from(value.at_least(1)?).ok();
            Ok(())
        }),
];

/// Begins the row of an element, all of which are extensions.
const fn own(name: &'static str, unit: &'static str) -> ConfigSetting<ClusterDraft> {
    row(element(name, OWN), EXTENSION).unit(unit)
}

/// Returns the file of the authorities of the nodes' certificates; `None` if certificates are not checked.
pub fn authorities(text: &str) -> Option<PathBuf> {
    (text != "any").then(|| text.into())
}

/// Reads a `<Cluster>`.
pub(crate) fn read_cluster(draft: &mut Draft, given: SettingParts<'_>, reading: &mut ConfigReader<'_>) {
    let SettingParts::Element(node) = given else { return };
    if draft.cluster.is_some() {
        reading.warn_of_second(node);
        return;
    }
    let mut cluster = ClusterDraft::default();
    apply_children(CLUSTER_SETTINGS, &[], &mut cluster, node, reading);
    draft.cluster = Some(cluster.finish(node, reading));
}

fn read_contact_points(draft: &mut ClusterDraft, given: SettingParts<'_>, reading: &mut ConfigReader<'_>) {
    let SettingParts::Element(node) = given else { return };
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
    fn finish(self, node: &XmlNode, reading: &mut ConfigReader<'_>) -> Option<Cluster> {
        if !self.has_contact_points {
            reading.error(node.name.span, Mistake::ClusterWithout { tag: "ContactPoints", with: None });
        }
        let user = ("User", self.user.is_some());
        let password_file = ("PasswordFile", self.password_file.is_some());
        let certificate = ("CertificateFile", self.certificate_file.is_some());
        let key = ("KeyFile", self.key_file.is_some());
        let authorities = ("CertificateAuthorities", self.authorities.is_some());
        for ((with, is_given), (tag, has_tag)) in [
            (user, password_file),
            (password_file, user),
            (certificate, key),
            (key, certificate),
            (certificate, authorities),
        ] {
            if is_given
                && !has_tag
                && let Some(child) = node.child(with)
            {
                reading.error(child.name.span, Mistake::ClusterWithout { tag, with: Some(with) });
            }
        }
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
