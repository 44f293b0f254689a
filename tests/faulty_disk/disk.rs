//! The disk: calls with planned faults, and crashes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use embedded::disk::{Disk, DiskFile, FreeSpace};

use super::fault::{Crash, Fault, crashed, error_of};
use super::file::FaultyFile;
use super::names::{UnsyncedNames, remove_some};
use super::sectors::UnsyncedFile;
use super::{Chance, leftovers};

/// The free space and the size of a disk that is not full.
const ROOMY: FreeSpace = FreeSpace { free: 1 << 40, whole: 1 << 40 };

/// A disk on a directory. The directory has the data directory of the store, and the attic: files that are needed to
/// undo changes.
#[derive(Debug, Clone)]
pub struct FaultyDisk(Arc<Mutex<State>>);

/// The state that calls of the disk change.
#[derive(Debug)]
pub struct State {
    directory: PathBuf,
    calls: u64,
    fault: Option<Fault>,
    has_crashed: bool,
    /// The reported space; see `set_full`.
    space: FreeSpace,
    is_full: bool,
    sync_takes: Duration,
    /// The files that have been opened, by inode.
    files: HashMap<u64, UnsyncedFile>,
    names: UnsyncedNames,
    pub can_map: bool,
    chance: Chance,
}

impl State {
    pub fn file(&mut self, inode: u64) -> &mut UnsyncedFile {
        self.files.get_mut(&inode).expect("a file that was opened")
    }

    fn open(&mut self, file: File) -> io::Result<u64> {
        let inode = file.metadata()?.ino();
        if let Entry::Vacant(entry) = self.files.entry(inode) {
            entry.insert(UnsyncedFile::new(file)?);
        }
        Ok(inode)
    }
}

impl FaultyDisk {
    /// Returns a disk without faults. An existing data directory counts as synced. Files can be mapped on every fourth
    /// disk.
    pub fn new(directory: &Path, seed: u64) -> FaultyDisk {
        let state = State {
            directory: directory.join("data"),
            calls: 0,
            fault: None,
            has_crashed: false,
            space: ROOMY,
            is_full: false,
            sync_takes: Duration::ZERO,
            files: HashMap::new(),
            names: UnsyncedNames::new(directory.join("attic")),
            can_map: seed % 4 == 3,
            chance: Chance::new(seed),
        };
        FaultyDisk(Arc::new(Mutex::new(state)))
    }

    /// Returns the path of the store's data directory.
    pub fn data(&self) -> PathBuf {
        self.state().directory.clone()
    }

    /// Returns the number of calls that change something, since the disk was created or since the last crash.
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// Returns whether the planned crash has happened.
    pub fn has_crashed(&self) -> bool {
        self.state().has_crashed
    }

    /// Plans a fault and replaces an earlier one.
    pub fn plan(&self, fault: Option<Fault>) {
        self.state().fault = fault;
    }

    /// Fills the disk, or frees space again.
    pub fn set_full(&self, is_full: bool) {
        let mut state = self.state();
        state.is_full = is_full;
        state.space = if is_full { FreeSpace { free: 4096, ..ROOMY } } else { ROOMY };
    }

    /// Sets the reported free space. Writes still succeed.
    pub fn set_free_space(&self, space: FreeSpace) {
        self.state().space = space;
    }

    /// Sets how long each sync takes.
    pub fn set_sync_takes(&self, time: Duration) {
        self.state().sync_takes = time;
    }

    /// Changes the directory into a state that a crash may leave, and removes the planned fault. No store may have the
    /// directory open.
    pub fn crash(&self, crash: Crash) {
        let state = &mut *self.state();
        if crash == Crash::PowerFailure {
            let mut inodes: Vec<u64> = state.files.keys().copied().collect();
            inodes.sort_unstable();
            for inode in inodes {
                state.files.get_mut(&inode).unwrap().lose_power(&mut state.chance).unwrap();
            }
            state.names.lose_power(&mut state.chance).unwrap();
        }
        leftovers::add(&state.directory.join("tables"), &mut state.chance).unwrap();
        (state.has_crashed, state.fault, state.calls) = (false, None, 0);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a call that changes something, or a planned fault. The call at which the process crashes has no effect, its
    /// full effect, or a random part of it (`run_partly`).
    pub fn call<T>(
        &self,
        run: impl FnOnce(&mut State) -> io::Result<T>,
        run_partly: impl FnOnce(&mut State, usize) -> io::Result<()>,
    ) -> io::Result<T> {
        let state = &mut *self.state();
        if state.has_crashed {
            return Err(crashed());
        }
        state.calls += 1;
        match state.fault {
            Some(Fault::CrashAt(call)) if call == state.calls => {
                state.has_crashed = true;
                let (kind, part) = (state.chance.below(3), state.chance.next() as usize);
                // The call returns an error, whatever it has done.
                match kind {
                    0 => {}
                    1 => drop(run_partly(state, part)),
                    _ => drop(run(state)),
                }
                Err(crashed())
            }
            Some(Fault::FailAt { call, kind, is_lasting })
                if call == state.calls || is_lasting && call < state.calls =>
            {
                if state.chance.below(2) == 0 {
                    let part = state.chance.next() as usize;
                    run_partly(state, part)?;
                }
                Err(error_of(kind))
            }
            _ => run(state),
        }
    }

    /// Runs a call that changes nothing. It only fails after a crash.
    pub fn look<T>(&self, run: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let state = &mut *self.state();
        if state.has_crashed { Err(crashed()) } else { run(state) }
    }

    /// Returns an error if the disk is full.
    pub fn check_room(&self) -> io::Result<()> {
        if self.state().is_full { Err(error_of(ErrorKind::StorageFull)) } else { Ok(()) }
    }

    pub fn wait_for_sync(&self) {
        let time = self.state().sync_takes;
        if !time.is_zero() {
            std::thread::sleep(time);
        }
    }

    fn faulty_file(&self, inode: u64) -> Arc<dyn DiskFile> {
        Arc::new(FaultyFile { disk: self.clone(), inode })
    }
}

fn nothing(_: &mut State, _: usize) -> io::Result<()> {
    Ok(())
}

impl Disk for FaultyDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.check_room()?;
        let create = |state: &mut State| {
            let is_new = !path.exists();
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create(true).truncate(false).open(path)?;
            let inode = state.open(file)?;
            if is_new {
                state.names.made(path);
            } else {
                state.file(inode).set_length(0)?;
            }
            Ok(inode)
        };
        self.call(create, nothing).map(|inode| self.faulty_file(inode))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let open = |state: &mut State| state.open(OpenOptions::new().read(true).write(true).open(path)?);
        self.call(open, nothing).map(|inode| self.faulty_file(inode))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.look(|_| fs::read(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(|state| state.names.rename(from, to), nothing)
    }

    /// Not supported, as on file systems without hard links. `UnsyncedNames` assumes that a file has one name.
    fn link(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.call(|state| state.names.remove(path), nothing)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.check_room()?;
        self.call(|state| state.names.create_directory(path), nothing)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        let remove = |state: &mut State| match state.names.remove(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        let remove_part = |state: &mut State, _: usize| {
            if path.is_dir() { remove_some(path, &mut state.chance) } else { Ok(()) }
        };
        self.call(remove, remove_part)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.look(|_| embedded::disk::RealDisk.list(path))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.look(|_| path.try_exists())
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.wait_for_sync();
        self.call(|state| state.names.sync(path), nothing)
    }

    fn free_space(&self, _path: &Path) -> io::Result<FreeSpace> {
        self.look(|state| Ok(state.space))
    }
}
