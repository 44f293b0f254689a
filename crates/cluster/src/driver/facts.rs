//! Asks a cluster for the facts that decide whether it is fit for a gateway. Nothing is changed.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use scylla::statement::Consistency;

use super::link::Link;
use super::metadata_records::KEYSPACE;
use super::rows::{first, number};
use super::values::DriverValues;
use crate::facts::ClusterFacts;
use base::schema::quoted_name;
use base::util::Clock;
use store::Result;

/// The statement that returns the time of the node which runs it.
const NOW: &str = "SELECT toUnixTimestamp(now()) FROM system.local";

impl Link {
    /// Returns the facts. `user` is the user with whom the gateway logs in.
    pub async fn facts(&self, user: Option<&str>, clock: &Clock) -> Result<ClusterFacts> {
        let mut releases = BTreeMap::new();
        for release in self.of_nodes("release_version").await? {
            *releases.entry(String::from_utf8_lossy(&release).into_owned()).or_default() += 1;
        }
        let schemas: BTreeSet<Bytes> = self.of_nodes("schema_version").await?.into_iter().collect();
        let partitioner = self.partitioner_class().await?;
        // The second run needs no time to prepare the statement.
        self.ask(NOW, DriverValues::default()).await?;
        let now = first(self.ask(NOW, DriverValues::default()).await?).and_then(|now| number(&now));
        let clock_ahead_ms = now.map_or(0, |now| now.saturating_sub(clock.now_ms()));
        let has_own_keyspace = self.session.get_cluster_state().get_keyspace(KEYSPACE).is_some();
        let may_create = match user {
            Some(user) => self.may_create(user).await,
            None => None,
        };
        let schemas = schemas.len();
        Ok(ClusterFacts { releases, schemas, partitioner, clock_ahead_ms, has_own_keyspace, may_create })
    }

    /// Returns a column of `system.local` and `system.peers`: a value for each node.
    pub(super) async fn of_nodes(&self, column: &str) -> Result<Vec<Bytes>> {
        let mut values = Vec::new();
        for table in ["local", "peers"] {
            let text = format!("SELECT {column} FROM system.{table}");
            let rows = self.ask(&text, DriverValues::default()).await?;
            values.extend(rows.into_iter().filter_map(|row| row.into_iter().next().flatten()));
        }
        Ok(values)
    }

    /// Returns whether a user may create keyspaces. `None` if the cluster has no authorizer, or does not let the user ask.
    async fn may_create(&self, user: &str) -> Option<bool> {
        let user = quoted_name(user);
        let listed =
            async |text: String| self.ask_at(&text, DriverValues::default(), Consistency::One).await.ok();
        // Its columns are role, super, login and more.
        let roles = listed(format!("LIST ROLES OF {user}")).await?;
        let is_super =
            |row: &Vec<Option<Bytes>>| row.get(1).is_some_and(|flag| flag.as_deref() == Some(&[1]));
        if roles.iter().any(is_super) {
            return Some(true);
        }
        let granted = listed(format!("LIST ALL PERMISSIONS ON ALL KEYSPACES OF {user}")).await?;
        Some(granted.iter().flatten().flatten().any(|value| value.as_ref() == b"CREATE"))
    }
}
