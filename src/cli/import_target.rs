//! The target of an import before it is opened: whether it exists, and which partitioner it has.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::cli::Result;
use base::partitioner;
use base::util::output::report_line;
use config::Config;
use embedded::stored_partitioner;
use transfer::endpoint::Location;
use transfer::import::{SourcePartitioner, recorded_parts};

/// A target that is not opened yet.
pub(super) struct TargetLocation<'a> {
    place: &'a Location,
    new: Option<NewDirectory>,
}

/// A directory that the import makes a data directory.
struct NewDirectory {
    path: PathBuf,
    /// Whether it exists, and is empty.
    exists: bool,
}

impl TargetLocation<'_> {
    pub(super) fn of(place: &Location) -> TargetLocation<'_> {
        let new = match place {
            Location::Data(path) => NewDirectory::at(path),
            _ => None,
        };
        TargetLocation { place, new }
    }

    /// Checks that a progress file does not say that a part is already in a new directory.
    pub(super) fn check_progress(&self, file: Option<&Path>) -> Result<()> {
        let (Some(new), Some(file)) = (&self.new, file) else { return Ok(()) };
        match recorded_parts(file).map_err(|error| error.to_string())? {
            0 => Ok(()),
            parts => Err(format!(
                "the progress file {} says that {parts} parts are imported into {}, where nothing is: remove the file to begin \
                 again, or put the directory back",
                file.display(),
                new.path.display()
            )),
        }
    }

    /// Returns the configuration for a target without one: a new directory gets the partitioner of the old servers, and
    /// an existing one keeps its own.
    pub(super) fn fitting(&self, config: Config, source: &SourcePartitioner) -> Config {
        let partitioner = match (self.place, &self.new) {
            (Location::Data(_), Some(new)) => {
                let class = source.partitioner.class_name();
                if class != config.partitioner.class_name() {
                    report_line!(
                        "note: {} gets the partitioner {class}, since {}: serve it with --partitioner {class}, or with a \
                         configuration that has it",
                        new.path.display(),
                        source.named_by
                    );
                }
                source.partitioner.clone()
            }
            (Location::Data(directory), None) => {
                // A damaged directory is reported when it is opened.
                let class = stored_partitioner(directory).unwrap_or_default();
                partitioner::resolve(&class).unwrap_or_else(|| config.partitioner.clone())
            }
            _ => config.partitioner.clone(),
        };
        Config { partitioner, ..config }
    }

    /// Removes the files that a refused import has put into a new directory, and the directory itself if the import has
    /// created it.
    pub(super) fn remove(&self) {
        let Some(new) = &self.new else { return };
        if let Err(error) = new.remove() {
            report_line!("note: {} has files of this import, and no data: {error}", new.path.display());
        }
    }
}

impl NewDirectory {
    /// Returns the directory, if it is empty or does not exist.
    fn at(path: &Path) -> Option<NewDirectory> {
        let exists = match fs::read_dir(path) {
            Ok(mut entries) => match entries.next() {
                None => true,
                Some(_) => return None,
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(_) => return None,
        };
        Some(NewDirectory { path: path.to_owned(), exists })
    }

    fn remove(&self) -> io::Result<()> {
        if !self.exists {
            return fs::remove_dir_all(&self.path);
        }
        // It keeps its owner and its rights.
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
        }
        Ok(())
    }
}
