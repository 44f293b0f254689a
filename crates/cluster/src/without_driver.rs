//! Takes the place of `driver` in a build without the feature `driver`.

use std::sync::Arc;

use super::facts::ClusterFacts;
use super::options::ClusterOptions;
use base::partitioner::PartitionerRef;
use base::util::Clock;
use store::{Result, Store, StoreError};

/// A connection to a cluster. Without a driver there is none.
#[derive(Debug)]
pub enum ClusterLink {}

impl ClusterLink {
    /// Returns `Mismatch`: a server that is configured to store its data on a cluster must not store them elsewhere.
    ///
    /// # Errors
    /// Always.
    pub async fn open(_options: &ClusterOptions) -> Result<ClusterLink> {
        Err(StoreError::Mismatch(
            "this program was built without the driver of clusters: start it with ./serve, which builds it with the \
             driver if <Cluster> or --cluster is given, or build it with `cargo build --release`"
                .to_owned(),
        ))
    }

    /// Returns the Java class name of the cluster's partitioner.
    ///
    /// # Errors
    /// None, as there is no connection.
    pub async fn partitioner_class(&self) -> Result<String> {
        match *self {}
    }

    /// Returns the facts that decide whether the cluster is fit for a gateway.
    ///
    /// # Errors
    /// None, as there is no connection.
    pub async fn facts(&self, _user: Option<&str>, _clock: &Clock) -> Result<ClusterFacts> {
        match *self {}
    }

    /// Returns whether the contact point is a thriftstore.
    ///
    /// # Errors
    /// None, as there is no connection.
    pub async fn is_thriftstore(&self) -> Result<bool> {
        match *self {}
    }

    /// Opens the store of the cluster.
    ///
    /// # Errors
    /// None, as there is no connection.
    pub async fn into_store(
        self,
        _options: &ClusterOptions,
        _partitioner: PartitionerRef,
        _clock: Arc<Clock>,
    ) -> Result<Arc<dyn Store>> {
        match self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_refused_with_the_way_to_build_the_driver() {
        let options = ClusterOptions::new(vec!["a:9042".to_owned()]);
        let opening = std::pin::pin!(ClusterLink::open(&options));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let std::task::Poll::Ready(Err(StoreError::Mismatch(why))) = opening.poll(&mut context) else {
            panic!("a cluster was opened");
        };
        assert!(why.contains("without the driver") && why.contains("./serve"), "{why}");
    }
}
