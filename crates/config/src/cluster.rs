//! `<Cluster>`: the cluster that stores the data, if this server is a gateway.

use std::path::PathBuf;

use super::apply::apply_children;
use super::contact_point::contact_point;
use super::draft::Draft;
use super::lists;
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::replication::replication;
use super::setting::{SettingParts, SettingTarget, assign, unset};
use super::settings::{Cluster, ClusterEncryption, ClusterLogin};
use super::value::SettingValue;
use super::xml::XmlNode;

/// The name of the element.
pub(crate) const CLUSTER: &str = "Cluster";
pub(crate) const CONTACT_POINT: &str = "ContactPoint";

/// The values of the elements of `<Cluster>`. `cluster` has those that need no other element.
#[derive(Debug, Default)]
pub(crate) struct ClusterDraft {
    cluster: Cluster,
    has_contact_points: bool,
    user: Option<String>,
    password_file: Option<PathBuf>,
    authorities: Option<Option<PathBuf>>,
    certificate_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
}

impl SettingTarget for ClusterDraft {
    fn part(&self) -> &'static str {
        CLUSTER
    }

    fn set(&mut self, id: &str, value: &SettingValue<'_>) -> Result<(), Mistake> {
        let cluster = &mut self.cluster;
        match id {
            "LocalDataCenter" => assign(&mut cluster.local_data_center, value.not_empty()),
            "User" => assign(&mut self.user, value.not_empty()),
            "PasswordFile" => assign(&mut self.password_file, value.path()),
            "Password" => Err(Mistake::PasswordInSight),
            "CertificateAuthorities" => assign(&mut self.authorities, Ok(authorities(value.text))),
            "CertificateFile" => assign(&mut self.certificate_file, value.path()),
            "KeyFile" => assign(&mut self.key_file, value.path()),
            "Replication" => {
                let parsed = replication(value.text).map_err(|reason| Mistake::BadReplication { reason });
                assign(&mut cluster.replication, parsed)
            }
            "RequestTimeoutInMillis" => assign(&mut cluster.request_timeout_ms, value.time_limit_ms()),
            "MaxRequests" => {
                cluster.requests_max = usize::try_from(value.at_least(1)?).ok();
                Ok(())
            }
            _ => unset(id),
        }
    }

    fn read(&mut self, _id: &str, given: SettingParts<'_>, reading: &mut ConfigReader<'_>) {
        read_contact_points(self, given, reading);
    }
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
    apply_children(&[], &mut cluster, node, reading);
    draft.cluster = Some(cluster.finish(node, reading));
}

fn read_contact_points(draft: &mut ClusterDraft, given: SettingParts<'_>, reading: &mut ConfigReader<'_>) {
    let SettingParts::Element(node) = given else { return };
    for child in lists::nodes(node, CONTACT_POINT, reading) {
        draft.has_contact_points = true;
        match contact_point(&child.text.value) {
            Ok(found) => draft.cluster.contact_points.push(found),
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
        let login = self.user.zip(self.password_file);
        Some(Cluster {
            login: login.map(|(user, password_file)| ClusterLogin { user, password_file }),
            encryption: self.authorities.map(|authorities| ClusterEncryption { authorities, identity }),
            ..self.cluster
        })
    }
}
