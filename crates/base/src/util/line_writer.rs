//! Writes lines to a file on a thread of its own, and rotates the file by its size.
//!
//! ```text
//!   requests.log      the newest lines; renamed when it is full
//!   requests.log.1    the lines before
//!   requests.log.2    ...
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;

use super::limits::LINES_WAITING_MAX;

/// The largest size of a file, and the number of files that are kept.
#[derive(Debug, Clone, Copy)]
pub struct Rotation {
    /// The size in bytes after which the next line begins a new file.
    pub bytes_max: u64,
    /// The number of files, with the one that is written. At least 1.
    pub files_max: u32,
}

/// Writes lines. The caller never waits for the disk: if too many wait, lines are left out and counted.
#[derive(Debug)]
pub struct LineWriter {
    path: PathBuf,
    sender: SyncSender<String>,
    left_out: Arc<AtomicU64>,
}

struct Rotated {
    path: PathBuf,
    rotation: Rotation,
    file: BufWriter<File>,
    bytes: u64,
}

impl LineWriter {
    /// Opens or creates the file, and starts the thread. Lines are appended.
    pub fn open(path: &Path, rotation: Rotation) -> io::Result<LineWriter> {
        let file = Rotated::open(path, rotation)?;
        let (sender, lines) = sync_channel(LINES_WAITING_MAX);
        let left_out = Arc::<AtomicU64>::default();
        let counted = left_out.clone();
        thread::Builder::new()
            .name("request log".to_owned())
            .spawn(move || write_all(file, &lines, &counted))?;
        Ok(LineWriter { path: path.to_owned(), sender, left_out })
    }

    /// Returns the path of the file that is written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a line, without its line break.
    pub fn write(&self, line: String) {
        if self.sender.try_send(line).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Writes lines until the writer is dropped. After an error lines are lost, and the first error is logged.
fn write_all(mut file: Rotated, lines: &Receiver<String>, left_out: &AtomicU64) {
    let mut has_failed = false;
    while let Ok(line) = lines.recv() {
        let written = file.write_waiting(line, lines, left_out);
        if let Err(error) = &written
            && !has_failed
        {
            tracing::error!("cannot write {}: {error}; lines of requests are lost", file.path.display());
        }
        has_failed = written.is_err();
    }
}

impl Rotated {
    fn open(path: &Path, rotation: Rotation) -> io::Result<Rotated> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Rotated { path: path.to_owned(), rotation, file: BufWriter::new(file), bytes })
    }

    /// Writes a line and those that wait behind it.
    fn write_waiting(
        &mut self,
        mut line: String,
        lines: &Receiver<String>,
        left_out: &AtomicU64,
    ) -> io::Result<()> {
        loop {
            self.write(&line)?;
            let missing = left_out.swap(0, Ordering::Relaxed);
            if missing > 0 {
                self.write(&format!("{{\"left_out\":{missing}}}"))?;
            }
            line = match lines.try_recv() {
                Ok(line) => line,
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return self.file.flush(),
            };
        }
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        let length = line.len() as u64 + 1;
        if self.bytes > 0 && self.bytes + length > self.rotation.bytes_max {
            self.rotate()?;
        }
        self.file.write_all(line.as_bytes())?;
        self.file.write_all(b"\n")?;
        self.bytes += length;
        Ok(())
    }

    /// Renames the files, and begins a new one. The oldest is removed.
    fn rotate(&mut self) -> io::Result<()> {
        self.file.flush()?;
        let older = |number: u32| PathBuf::from(format!("{}.{number}", self.path.display()));
        for number in (1..self.rotation.files_max.saturating_sub(1)).rev() {
            match fs::rename(older(number), older(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        match self.rotation.files_max {
            0 | 1 => fs::remove_file(&self.path)?,
            _ => fs::rename(&self.path, older(1))?,
        }
        *self = Rotated::open(&self.path, self.rotation)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names and contents of the files of a directory.
    fn files(directory: &Path) -> Vec<(String, String)> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = entries
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                (name, fs::read_to_string(&path).unwrap())
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn files_are_rotated_by_their_size() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut file = Rotated::open(&path, Rotation { bytes_max: 6, files_max: 3 }).unwrap();
        for line in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "a line that is too long"] {
            file.write(line).unwrap();
        }
        file.file.flush().unwrap();
        let expected = [("log", "a line that is too long\n"), ("log.1", "7\n8\n9\n"), ("log.2", "4\n5\n6\n")];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(files(directory.path()), expected);
    }

    #[test]
    fn lines_are_appended_by_the_thread() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        fs::write(&path, "before\n").unwrap();
        let writer = LineWriter::open(&path, Rotation { bytes_max: 1000, files_max: 1 }).unwrap();
        writer.write("after".to_owned());
        for _ in 0..1000 {
            if fs::read_to_string(&path).unwrap() == "before\nafter\n" {
                return;
            }
            thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("the line was not written");
    }
}
