//! A disk that counts the bytes written to it. Writes to mapped files are not counted.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use embedded::disk::{Disk, DiskFile, FreeSpace, Mapping, RealDisk};

/// The real disk with a counter of written bytes.
#[derive(Debug, Clone, Default)]
pub struct CountingDisk(Arc<AtomicU64>);

#[derive(Debug)]
struct CountedFile {
    file: Arc<dyn DiskFile>,
    written: Arc<AtomicU64>,
}

impl CountingDisk {
    /// Returns the number of bytes written so far.
    pub fn written(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn counted(&self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(CountedFile { file, written: self.0.clone() })
    }
}

impl Disk for CountingDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        RealDisk.create(path).map(|file| self.counted(file))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        RealDisk.open(path).map(|file| self.counted(file))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        RealDisk.read(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_file(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_directory(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        RealDisk.list(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        RealDisk.exists(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_directory(path)
    }

    fn free_space(&self, path: &Path) -> io::Result<FreeSpace> {
        RealDisk.free_space(path)
    }
}

impl DiskFile for CountedFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_at(bytes, offset)
    }

    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.file.set_length(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn map(&self, begin: u64, bytes: u64) -> io::Result<Mapping> {
        self.file.map(begin, bytes)
    }
}
