//! Leftovers of the tree library: files that a crash during a flush or a compaction leaves in a tree's directory, and
//! that no list of tables contains.

use std::path::Path;
use std::{fs, io};

use super::Chance;

/// Adds leftovers to randomly chosen trees in a directory of trees.
pub fn add(tables: &Path, chance: &mut Chance) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(tables) else { return Ok(()) };
    for entry in entries {
        let tree = entry?.path();
        if tree.join("current").exists() {
            add_to_tree(&tree, chance)?;
        }
    }
    Ok(())
}

fn add_to_tree(tree: &Path, chance: &mut Chance) -> io::Result<()> {
    let numbers_in = |directory: &Path, prefix: &str| -> io::Result<Vec<u64>> {
        let names = fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name()));
        let names: Vec<_> = names.collect::<io::Result<_>>()?;
        Ok(names.iter().filter_map(|name| name.to_str()?.strip_prefix(prefix)?.parse().ok()).collect())
    };
    let next_of = |numbers: Vec<u64>| numbers.into_iter().max().map_or(0, |last| last + 1);
    if chance.below(3) == 0 {
        let tables = tree.join("tables");
        let number = next_of(numbers_in(&tables, "")?) + chance.below(3) as u64;
        let length = chance.below(10_000);
        fs::write(tables.join(number.to_string()), chance.bytes(length))?;
    }
    if chance.below(3) == 0 {
        // A truncated list of tables, which `current` does not name yet.
        let last = next_of(numbers_in(tree, "v")?);
        let mut bytes = fs::read(tree.join(format!("v{}", last.saturating_sub(1)))).unwrap_or_default();
        bytes.truncate(chance.below(bytes.len() + 1));
        fs::write(tree.join(format!("v{last}")), bytes)?;
    }
    if chance.below(3) == 0 {
        let length = chance.below(30);
        fs::write(tree.join(format!(".tmp{:06}", chance.below(1_000_000))), chance.bytes(length))?;
    }
    Ok(())
}
