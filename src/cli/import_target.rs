//! The target of an import before it is opened: whether it exists, and which partitioner it has.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::copy::Place;
use crate::import::{SourcePartitioner, recorded_parts};
use crate::partitioner;
use crate::storage::inspect;
use crate::util::output::report_line;

/// A target that is not opened yet.
pub struct TargetPlace<'a> {
    place: &'a Place,
    /// The directory that the import makes a data directory; `None` if it is one already, or for a cluster.
    new: Option<PathBuf>,
}

impl TargetPlace<'_> {
    pub fn of(place: &Place) -> TargetPlace<'_> {
        let is_new = |directory: &Path| match fs::read_dir(directory) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        let new = match place {
            Place::Data(directory) if is_new(directory) => Some(directory.clone()),
            _ => None,
        };
        TargetPlace { place, new }
    }

    /// Checks that a progress file does not say that a part is already in a new directory.
    pub fn check_progress(&self, file: Option<&Path>) -> Result<(), String> {
        let (Some(new), Some(file)) = (&self.new, file) else { return Ok(()) };
        match recorded_parts(file).map_err(|error| error.to_string())? {
            0 => Ok(()),
            parts => Err(format!(
                "the progress file {} says that {parts} parts are imported into {}, where nothing is: remove the file to begin \
                 again, or put the directory back",
                file.display(),
                new.display()
            )),
        }
    }

    /// Returns the configuration for a target without one: a new directory gets the partitioner of the old servers, and an
    /// existing one keeps its own.
    pub fn fitting(&self, config: Config, source: &SourcePartitioner) -> Config {
        let partitioner = match (self.place, &self.new) {
            (Place::Data(_), Some(new)) => {
                let class = source.partitioner.class_name();
                if class != config.partitioner.class_name() {
                    report_line!(
                        "note: {} gets the partitioner {class}, since {}: serve it with --partitioner {class}, or with a \
                         configuration that has it",
                        new.display(),
                        source.named_by
                    );
                }
                source.partitioner.clone()
            }
            (Place::Data(directory), None) => {
                // What is wrong with the directory is found when it is opened.
                let class = inspect(directory, None).map(|found| found.partitioner).unwrap_or_default();
                partitioner::resolve(&class).unwrap_or_else(|| config.partitioner.clone())
            }
            _ => config.partitioner.clone(),
        };
        Config { partitioner, ..config }
    }

    /// Removes a directory that the import has made and in which it has imported nothing.
    pub fn remove(&self) {
        let Some(new) = &self.new else { return };
        if let Err(error) = fs::remove_dir_all(new) {
            report_line!("note: {} remains, with no data in it: {error}", new.display());
        }
    }
}
