//! Looks at the cluster of a gateway: whether its nodes can be reached, and whether it is fit for gateways.

use super::finding::Findings;
use super::probe;
use crate::cli::{cluster, data};
use ::cluster::{ClusterFacts, ClusterLink, DEFECTIVE_VERSION};
use base::partitioner::check_partitioner;
use base::util::Clock;
use config::{Cluster, Config};

/// Clocks that differ by more are reported.
const CLOCKS_APART_MS: u64 = 500;

/// Looks at the cluster of a configuration.
pub(super) fn check(cluster: &Cluster, config: &Config, findings: &mut Findings) {
    let mut reached = 0;
    for node in &cluster.contact_points {
        match probe::connect(node) {
            Ok(_) => reached += 1,
            Err(why) => findings.advice(format!("the node {node} of the cluster: {why}"), ""),
        }
    }
    if reached == 0 {
        findings.problem(
            "no node of the cluster can be reached",
            "check the addresses of <Cluster>, and that the nodes run",
        );
        return;
    }
    findings.fine(format!("{reached} of {} nodes of <Cluster> can be reached", cluster.contact_points.len()));
    let asked = data::run(async {
        let options = cluster::options(cluster)?;
        let user = options.credentials.as_ref().map(|(user, _)| user.as_str());
        let link = ClusterLink::open(&options).await.map_err(|error| error.to_string())?;
        link.facts(user, &Clock::system()).await.map_err(|error| error.to_string())
    });
    match asked {
        Ok(facts) => judge(&facts, config, findings),
        Err(why) => {
            findings.problem(format!("a gateway cannot use the cluster: {why}"), "see docs/cluster.md")
        }
    }
}

fn judge(facts: &ClusterFacts, config: &Config, findings: &mut Findings) {
    let releases: Vec<String> =
        facts.releases.iter().map(|(release, nodes)| format!("{release} ({nodes})")).collect();
    findings.fine(format!("releases of the cluster's nodes: {}", releases.join(", ")));
    if facts.releases.contains_key(DEFECTIVE_VERSION) {
        findings.advice("in Cassandra 5.0.5 some scans fail after deletions", "use 5.0.6 or later");
    }
    match check_partitioner(config.partitioner.class_name(), &facts.partitioner) {
        Ok(choice) => findings.fine(
            choice.note.unwrap_or_else(|| format!("the cluster's partitioner is {}", facts.partitioner)),
        ),
        Err(why) => findings.problem(why, "correct the <Partitioner> of the configuration"),
    }
    match facts.schemas {
        0 | 1 => findings.fine("the nodes agree about the schema"),
        schemas => findings.advice(
            format!("the nodes have {schemas} different versions of the schema"),
            "`nodetool describecluster` shows which; restart the node that differs",
        ),
    }
    if facts.clock_ahead_ms.unsigned_abs() > CLOCKS_APART_MS {
        findings.advice(
            format!(
                "the clock of a node differs from this machine's by {} ms: of two writes without a client's timestamp, \
                 the older one may win",
                facts.clock_ahead_ms
            ),
            "let a time service set the clocks of gateways and nodes",
        );
    }
    match (facts.has_own_keyspace, facts.may_create) {
        (true, _) => {
            findings.fine("gateways have used the cluster before: their keyspace \"thriftstore\" exists")
        }
        (false, Some(false)) => findings.problem(
            "the gateway's user may not create keyspaces",
            "GRANT ALL PERMISSIONS ON ALL KEYSPACES TO the user",
        ),
        (false, _) => findings.fine("the first gateway that starts creates the keyspace \"thriftstore\""),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_is_unfit_is_said() {
        let config = config::load_or_default(None, &base::marshal::Types::builtin()).unwrap();
        let fit = ClusterFacts {
            releases: BTreeMap::from([("5.0.7".to_owned(), 3)]),
            schemas: 1,
            partitioner: config.partitioner.class_name().to_owned(),
            clock_ahead_ms: -3,
            has_own_keyspace: false,
            may_create: Some(true),
        };
        let worries = |facts: &ClusterFacts| {
            let mut findings = Findings::default();
            judge(facts, &config, &mut findings);
            let texts = findings.all().iter().filter(|finding| !finding.remedy.is_empty());
            texts.map(|finding| finding.text.clone()).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(worries(&fit), "");
        let defective = BTreeMap::from([("5.0.5".to_owned(), 1), ("5.0.7".to_owned(), 2)]);
        for (unfit, said) in [
            (ClusterFacts { releases: defective, ..fit.clone() }, "5.0.5 some scans fail"),
            (ClusterFacts { schemas: 2, ..fit.clone() }, "2 different versions"),
            (
                ClusterFacts { partitioner: "a.b.ByteOrderedPartitioner".to_owned(), ..fit.clone() },
                "artitioner",
            ),
            (ClusterFacts { clock_ahead_ms: -900, ..fit.clone() }, "by -900 ms"),
            (ClusterFacts { may_create: Some(false), ..fit.clone() }, "may not create keyspaces"),
        ] {
            assert!(worries(&unfit).contains(said), "{said}: {}", worries(&unfit));
        }
    }
}
