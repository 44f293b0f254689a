//! The partitioner of a gateway: always the cluster's.

use super::{PACKAGE, PARTITIONERS, PartitionerRef, resolve};

/// The partitioner that a gateway uses.
#[derive(Debug)]
pub struct PartitionerChoice {
    /// The cluster's partitioner.
    pub partitioner: PartitionerRef,
    /// A message for the operator if it is not the configured one.
    pub note: Option<String>,
}

/// Compares the configured partitioner with the cluster's, both by class name, short or full.
///
/// # Errors
/// A message for the operator, if scans of applications would return wrong rows.
pub fn check_partitioner(configured: &str, cluster: &str) -> Result<PartitionerChoice, String> {
    let (wanted, found) = (short(configured), short(cluster));
    let Some(partitioner) = resolve(cluster) else {
        let known: Vec<&str> = PARTITIONERS.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "the cluster's partitioner is {found}, which is not supported; supported are {}",
            known.join(", ")
        ));
    };
    if wanted == found {
        return Ok(PartitionerChoice { partitioner, note: None });
    }
    let wants_order = resolve(configured).is_some_and(|configured| configured.preserves_order());
    match (wants_order, partitioner.preserves_order()) {
        (true, false) => Err(format!(
            "the configuration specifies {wanted}, with which range scans have the order of the keys; the cluster has \
             {found}, with which they have the order of hashes, so scans from key to key would return wrong rows. Store \
             the data in a directory, or, if no application scans ranges of keys, write \
             <Partitioner>{PACKAGE}{found}</Partitioner>"
        )),
        (true, true) => Err(format!(
            "the configuration specifies {wanted} and the cluster has {found}, which sorts keys differently: scans from \
             key to key would return wrong rows. If applications work with the cluster's order, write \
             <Partitioner>{PACKAGE}{found}</Partitioner>"
        )),
        (false, false) => Ok(PartitionerChoice {
            partitioner,
            note: Some(format!(
                "the configuration specifies {wanted}, and the cluster has {found}: range scans return rows in another \
                 order, and tokens are the cluster's"
            )),
        }),
        (false, true) => Ok(PartitionerChoice {
            partitioner,
            note: Some(format!(
                "the configuration specifies {wanted}, and the cluster has {found}: range scans return rows in the order \
                 of their keys, and tokens are the cluster's"
            )),
        }),
    }
}

fn short(class_name: &str) -> &str {
    class_name.strip_prefix(PACKAGE).unwrap_or(class_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MURMUR3: &str = "org.apache.cassandra.dht.Murmur3Partitioner";

    #[test]
    fn equal_partitioners_need_no_message() {
        for (name, _) in PARTITIONERS {
            let choice = check_partitioner(name, &format!("{PACKAGE}{name}")).unwrap();
            assert_eq!(choice.partitioner.class_name(), format!("{PACKAGE}{name}"));
            assert_eq!(choice.note, None);
        }
    }

    #[test]
    fn another_hash_is_reported() {
        let choice = check_partitioner("org.apache.cassandra.dht.RandomPartitioner", MURMUR3).unwrap();
        assert_eq!(choice.partitioner.class_name(), MURMUR3);
        let note = choice.note.unwrap();
        assert!(note.contains("specifies RandomPartitioner") && note.contains("another order"), "{note}");
        let choice = check_partitioner(MURMUR3, "ByteOrderedPartitioner").unwrap();
        assert!(choice.partitioner.preserves_order());
        assert!(choice.note.unwrap().contains("in the order of their keys"));
    }

    #[test]
    fn a_different_order_of_keys_is_refused() {
        for ordered in
            ["OrderPreservingPartitioner", "CollatingOrderPreservingPartitioner", "ByteOrderedPartitioner"]
        {
            let error = check_partitioner(ordered, MURMUR3).unwrap_err();
            assert!(error.contains(ordered) && error.contains("wrong rows"), "{error}");
            assert!(error.ends_with(&format!("<Partitioner>{MURMUR3}</Partitioner>")), "{error}");
        }
        let error =
            check_partitioner("CollatingOrderPreservingPartitioner", "ByteOrderedPartitioner").unwrap_err();
        assert!(error.contains("sorts keys differently"), "{error}");
    }

    #[test]
    fn an_unknown_partitioner_is_refused() {
        let error = check_partitioner("RandomPartitioner", "com.example.Ring").unwrap_err();
        assert!(error.contains("com.example.Ring") && error.contains("Murmur3Partitioner"), "{error}");
    }
}
