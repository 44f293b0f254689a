//! The options of the cluster's name and partitioner, which override the configuration or do without one.

use clap::Args;

use super::data::partitioner_named;
use crate::cli::Result;
use config::Config;

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub(super) struct IdentityArgs {
    /// The name that describe_cluster_name returns, instead of the configuration's
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    cluster_name: Option<String>,
    /// The partitioner, instead of the configuration's. It is stored with the data and cannot be changed after the first write
    #[arg(long, value_name = "CLASS", hide_short_help = true)]
    partitioner: Option<String>,
}

impl IdentityArgs {
    /// Returns the configuration with the given options.
    ///
    /// # Errors
    ///
    /// If there is no such partitioner, or if it does not have the configuration's token.
    pub(super) fn over(&self, config: Config) -> Result<Config> {
        let mut config = config;
        if let Some(name) = &self.cluster_name {
            config.cluster_name.clone_from(name);
        }
        let Some(class) = &self.partitioner else { return Ok(config) };
        let partitioner = partitioner_named(class)?;
        if let Some(Err(error)) = config.initial_token.as_ref().map(|token| partitioner.parse_token(token)) {
            return Err(format!(
                "{error}: remove the token from the configuration, or use its partitioner, {}",
                config.partitioner.class_name()
            ));
        }
        config.partitioner = partitioner;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::Types;

    fn over(partitioner: Option<&str>, text: &str) -> Result<Config> {
        let config = config::parse(text, "cassandra.yaml", &Types::builtin()).unwrap();
        let partitioner = partitioner.map(str::to_owned);
        IdentityArgs { cluster_name: Some("Ours".to_owned()), partitioner }.over(config)
    }

    #[test]
    fn options_override_the_configuration() {
        let config = over(Some("Murmur3Partitioner"), "cluster_name: Theirs").unwrap();
        assert_eq!(config.cluster_name, "Ours");
        assert!(config.partitioner.class_name().ends_with(".Murmur3Partitioner"));
        let config = over(None, "partitioner: ByteOrderedPartitioner").unwrap();
        assert!(config.partitioner.class_name().ends_with(".ByteOrderedPartitioner"));
    }

    #[test]
    fn a_partitioner_must_exist_and_have_the_token() {
        let why = over(Some("Murmur2Partitioner"), "cluster_name: a").unwrap_err();
        assert!(why.starts_with("--partitioner Murmur2Partitioner: there is no such"), "{why}");
        let why = over(Some("RandomPartitioner"), "partitioner: ByteOrderedPartitioner\ninitial_token: ab");
        let why = why.unwrap_err();
        assert!(why.contains("remove the token") && why.contains("ByteOrderedPartitioner"), "{why}");
    }
}
