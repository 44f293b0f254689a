//! The options of `serve` for an archive: a continuous backup to object storage.

use std::time::Duration;

use clap::Args;

use super::store::Storage;
use crate::cli::Result;

#[derive(Debug, Args)]
#[command(next_help_heading = "Archive")]
pub(super) struct ArchiveArgs {
    /// Back up the data directory continuously to object storage: s3://BUCKET/PREFIX, gs://BUCKET/PREFIX,
    /// az://CONTAINER/PREFIX or file:///DIR. Credentials come from the environment. Needs a program that was built with the
    /// feature archive
    #[arg(long = "archive", id = "archive", value_name = "URL", hide_short_help = true)]
    url: Option<String>,
    /// The time for which moments can be restored, such as 30d or 12h. Older parts are removed [default: for ever]
    #[arg(id = "archive_keep", long = "archive-keep", value_name = "TIME", requires = "archive", value_parser = time, hide_short_help = true)]
    keep: Option<Duration>,
    /// Megabytes of the commit log that are kept in addition while the object storage cannot be reached. With more, the
    /// archive has a gap and begins anew
    #[arg(id = "archive_backlog_mb", long = "archive-backlog-mb", value_name = "MB", default_value = "1024", requires = "archive", value_parser = clap::value_parser!(u64).range(1..=1 << 40), hide_short_help = true)]
    backlog_mb: u64,
    /// Limit the rate at which tables are uploaded, in megabytes per second [default: no limit]
    #[arg(id = "archive_rate", long = "archive-rate", value_name = "MB/S", requires = "archive", value_parser = clap::value_parser!(u64).range(1..=1 << 40), hide_short_help = true)]
    rate: Option<u64>,
}

/// Reads a time such as `30d`.
fn time(text: &str) -> Result<Duration> {
    const SECONDS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];
    let time = SECONDS.iter().find_map(|(unit, seconds)| {
        let number: u64 = text.strip_suffix(*unit)?.parse().ok()?;
        number.checked_mul(*seconds).filter(|seconds| (1..=u64::from(u32::MAX)).contains(seconds))
    });
    time.map(Duration::from_secs)
        .ok_or_else(|| "use a number with d, h, m or s, such as 30d or 12h".to_owned())
}

impl ArchiveArgs {
    /// Checks that the data is in a directory if it shall be archived.
    fn check_place(&self, place: &Storage) -> Result<()> {
        match (place, &self.url) {
            (Storage::Directory(_), _) | (_, None) => Ok(()),
            _ => Err(format!("--archive is for a data directory, and data is stored {place}; remove it")),
        }
    }
}

#[cfg(not(feature = "archive"))]
mod checked {
    use super::{ArchiveArgs, Storage};
    use crate::cli::Result;
    use embedded::EmbeddedStore;

    /// The archive, which this program was built without.
    pub(crate) struct NoArchive;

    impl ArchiveArgs {
        /// Checks that no archive is asked for.
        ///
        /// # Errors
        /// If one is asked for.
        pub(crate) fn checked(&self, place: &Storage) -> Result<NoArchive> {
            self.check_place(place)?;
            match (&self.url, self.keep, self.backlog_mb, self.rate) {
                // The address is not repeated: somebody may have put a password into it.
                (Some(_), ..) => Err(format!("--archive: {}", crate::cli::restore::WITHOUT_FEATURE)),
                (None, ..) => Ok(NoArchive),
            }
        }
    }

    impl NoArchive {
        pub(crate) fn start(self, _: Option<&EmbeddedStore>) -> Result<NoArchive> {
            Ok(self)
        }

        pub(crate) async fn stop_after(self, stopping: impl Future<Output = Result<()>>) -> Result<()> {
            stopping.await
        }
    }
}

#[cfg(feature = "archive")]
mod checked {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::{ArchiveArgs, Storage};
    use crate::cli::Result;
    use archive::{ArchiveLocation, ArchiveOptions, Archiver, FullSchedule};
    use embedded::EmbeddedStore;

    /// The time for the upload of the last writes when the server stops.
    const STOP_TIMEOUT: Duration = Duration::from_secs(10);
    /// Time until new writes are uploaded, if there is less than a megabyte of them.
    const PART_EVERY: Duration = Duration::from_secs(1);

    /// The options of an archive; `None` if there is to be none.
    pub(crate) struct CheckedArchive(Option<ArchiveOptions>);

    /// An archive that may be running.
    pub(crate) struct RunningArchive(Option<Archiver>);

    impl ArchiveArgs {
        /// Checks the options.
        ///
        /// # Errors
        /// If the address or the environment cannot be used. Whether the object storage answers is not checked.
        pub(crate) fn checked(&self, place: &Storage) -> Result<CheckedArchive> {
            self.check_place(place)?;
            let (Some(url), Storage::Directory(directory)) = (&self.url, place) else {
                return Ok(CheckedArchive(None));
            };
            let location = ArchiveLocation::open(url, true).map_err(|error| format!("--archive: {error}"))?;
            Ok(CheckedArchive(Some(self.options(location, directory.clone()))))
        }

        fn options(&self, location: ArchiveLocation, directory: PathBuf) -> ArchiveOptions {
            ArchiveOptions {
                location,
                directory,
                keep: self.keep,
                backlog_bytes: self.backlog_mb << 20,
                bytes_per_s: self.rate.map(|megabytes| megabytes.saturating_mul(1_000_000)),
                part_every: PART_EVERY,
                full_backups: FullSchedule::default(),
            }
        }
    }

    impl CheckedArchive {
        /// Starts the archive of a store.
        pub(crate) fn start(self, store: Option<&EmbeddedStore>) -> Result<RunningArchive> {
            let (Some(options), Some(store)) = (self.0, store) else { return Ok(RunningArchive(None)) };
            let source = store.archive_source().map_err(|error| format!("--archive: {error}"))?;
            let archiver = Archiver::start(source, options).map_err(|error| format!("--archive: {error}"))?;
            Ok(RunningArchive(Some(archiver)))
        }
    }

    impl RunningArchive {
        /// Uploads the last writes, when the server has stopped.
        pub(crate) async fn stop_after(self, stopping: impl Future<Output = Result<()>>) -> Result<()> {
            let stopped = stopping.await;
            if let Some(archiver) = self.0 {
                RunningArchive::upload_rest(archiver).await;
            }
            stopped
        }

        async fn upload_rest(archiver: Archiver) {
            let stopped = tokio::task::spawn_blocking(move || archiver.stop(STOP_TIMEOUT)).await;
            if !stopped.unwrap_or(false) {
                tracing::warn!(
                    "the last writes were not uploaded to the archive within {} s; the next start uploads them",
                    STOP_TIMEOUT.as_secs()
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        let hour = Duration::from_secs(3_600);
        for (text, expected) in [("1h", hour), ("60m", hour), ("3600s", hour), ("30d", 720 * hour)] {
            assert_eq!(time(text), Ok(expected), "{text}");
        }
        for wrong in ["", "30", "d", "-1d", "0d", "1w", "99999999d"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
