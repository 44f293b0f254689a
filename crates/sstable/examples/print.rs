//! Prints the rows of an SSTable of Cassandra 0.4 to 5.0, and the type of each column if the file describes it.
//!
//! ```text
//! cargo run -p sstable --example print -- Standard1-5-Data.db
//! ```
//!
//! The other components of the table, such as its Index and CompressionInfo, must be beside the Data file.

use std::error::Error;
use std::io::stdout;
use std::path::Path;
use std::process::ExitCode;

use base::marshal::Types;
use base::schema::TableDef;
use base::util::Release;
use sstable::{Form, Shower, ShownAs, SstableError, TableOptions, TableReader};

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("usage: print DATA-FILE");
        return ExitCode::FAILURE;
    };
    match print(Path::new(&file)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn print(file: &Path) -> Result<(), Box<dyn Error>> {
    let mut table = TableReader::open(file, &TableOptions::default())?;
    // Rows can be read although the checksum of the whole file is wrong.
    if let Err(damage) = table.check_digest() {
        eprintln!("{damage}");
    }

    // Files of 3.x have the types of keys, names and values. Those of earlier releases are printed as they are.
    let types = Types::builtin();
    let shown_as = table.described(&types).map(|cf| {
        let of_table = TableDef::of(&cf, Release::V2_1);
        ShownAs { types: types.clone(), table: of_table, cf }
    });

    let mut shower = Shower::new(stdout().lock(), Form::Text(shown_as))?;
    loop {
        match table.next_unit() {
            Ok(Some(unit)) => shower.show(&unit)?,
            Ok(None) => break,
            // Reading goes on behind the damage. The lost rows are between two known positions.
            Err(SstableError::Damaged(damage)) => {
                shower.end_damaged_row()?;
                let skipped = table.skip_damage(&damage)?;
                eprintln!("{damage}; not read: from byte {} on", skipped.start);
            }
            Err(error) => return Err(error.into()),
        }
    }
    shower.finish()?;
    Ok(())
}
