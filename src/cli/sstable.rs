//! `thriftstore sstable show`: prints the rows of an SSTable of an old server.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::data;
use super::sstable_types::{DefinitionArgs, KnownTypes};
use crate::cli::Result;
use base::marshal::Types;
use base::schema::Layout;
use base::util::output::report_line;
use base::util::unhex;
use sstable::{Form, Shower, SstableError, TableOptions, TableReader, Unit};

#[derive(Debug, Args)]
pub(super) struct SstableArgs {
    #[command(subcommand)]
    command: SstableCommand,
}

#[derive(Debug, Subcommand)]
enum SstableCommand {
    /// Print the rows of an SSTable, as JSON or for people.
    Show(ShowSstableArgs),
}

/// The layout of a family's cell names, where the file does not show it.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LayoutArg {
    /// A CQL table
    Table,
    /// COMPACT STORAGE without clustering columns, or a column family with defined columns
    StaticCompact,
    /// A column family without defined columns, or COMPACT STORAGE with one clustering column
    Dense,
    /// COMPACT STORAGE with several clustering columns, or a column family with composite names
    CompositeDense,
    /// A super column family
    Super,
}

#[derive(Debug, Args)]
struct ShowSstableArgs {
    /// The Data file, such as `Standard1-5-Data.db`. Its other components must be beside it
    file: PathBuf,
    /// Print the rows as JSON: keys, names and values in hex, in one form for all releases
    #[arg(long)]
    json: bool,
    /// Print only the row with this key: a text, or its bytes as 0x...
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    #[command(flatten)]
    definitions: DefinitionArgs,
    /// The layout of cell names [default: as the definition says. Without one files of 3.x are read as CQL tables, and
    /// super columns of 2.0 to 2.2 as composite names; files of 0.4 to 1.2 show it]
    #[arg(long, value_enum)]
    layout: Option<LayoutArg>,
    /// Check the order of rows by this partitioner [default: the one in the Statistics file of 2.1 and later]
    #[arg(long, value_name = "CLASS")]
    partitioner: Option<String>,
    /// Report damage, and go on with the next row that can be found
    #[arg(long)]
    skip_damaged: bool,
}

pub(super) fn sstable(args: &SstableArgs, types: &Types) -> Result<()> {
    let SstableCommand::Show(args) = &args.command;
    data::run(async {
        let known = KnownTypes::of(&args.definitions, &args.file, types).await?;
        match show(args, known, types) {
            Err(ShowFailure::Closed) => Ok(()),
            Err(ShowFailure::Message(why)) => Err(why),
            Ok(()) => Ok(()),
        }
    })
}

/// Why the output ends early.
enum ShowFailure {
    /// The reader of the output, such as `head`, has seen enough.
    Closed,
    Message(String),
}

impl From<SstableError> for ShowFailure {
    fn from(error: SstableError) -> ShowFailure {
        ShowFailure::Message(error.to_string())
    }
}

impl From<io::Error> for ShowFailure {
    fn from(error: io::Error) -> ShowFailure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => ShowFailure::Closed,
            _ => ShowFailure::Message(format!("cannot print it: {error}")),
        }
    }
}

fn show(args: &ShowSstableArgs, known: KnownTypes, types: &Types) -> Result<(), ShowFailure> {
    let partitioner = args.partitioner.as_deref().map(data::partitioner_named).transpose();
    let partitioner = partitioner.map_err(ShowFailure::Message)?;
    let defined = known.table().map(|table| table.layout);
    let options = TableOptions { layout: args.layout.map(layout).or(defined), partitioner };
    let (mut table, found) = TableReader::open_damaged(&args.file, &options)?;
    for name in table.descriptor().missing() {
        report_line!("{}: its {name} is missing: less of it can be checked", args.file.display());
    }
    let form = match args.json {
        true => Form::Json,
        false => Form::Text(known.shown_as(table.described(types))),
    };
    let mut damages = 0;
    for damage in found {
        report(damage, args.skip_damaged)?;
        damages += 1;
    }
    if let Some(text) = &args.key {
        let row_key = match text.strip_prefix("0x") {
            Some(digits) => {
                unhex(digits.as_bytes()).ok_or_else(|| ShowFailure::Message(format!("{text} is not hex")))?
            }
            None => text.clone().into_bytes(),
        };
        if !table.seek_to_key(&row_key)? {
            return Err(ShowFailure::Message(format!(
                "{} has no row with the key {text}",
                args.file.display()
            )));
        }
    } else {
        match table.check_digest() {
            Ok(remark) => remark.iter().for_each(|remark| report_line!("note: {remark}")),
            Err(error) => {
                report(error, args.skip_damaged)?;
                damages += 1;
            }
        }
    }
    let mut shower = Shower::new(BufWriter::new(io::stdout().lock()), form)?;
    let shown = show_rows(&mut table, &mut shower, args);
    shower.end_damaged_row()?;
    shower.finish()?;
    damages += shown?;
    match damages {
        0 => Ok(()),
        count => Err(ShowFailure::Message(format!("{} is damaged: {count} places", args.file.display()))),
    }
}

/// Prints the rows, and returns the number of damaged places.
fn show_rows<W: Write>(
    table: &mut TableReader,
    shower: &mut Shower<W>,
    args: &ShowSstableArgs,
) -> Result<u64, ShowFailure> {
    let mut damages = 0;
    loop {
        match table.next_unit() {
            Ok(None) => return Ok(damages),
            Ok(Some(unit)) => {
                shower.show(&unit)?;
                if args.key.is_some() && unit == Unit::EndOfRow {
                    return Ok(damages);
                }
            }
            Err(SstableError::Damaged(damage)) if args.skip_damaged => {
                damages += 1;
                shower.end_damaged_row()?;
                let skipped = table.skip_damage(&damage)?;
                let end = skipped.end.map_or("the end".to_owned(), |end| format!("byte {end}"));
                report_line!("{damage}\n  not read: from byte {} up to {end}", skipped.start);
                if args.key.is_some() {
                    return Ok(damages);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Prints damage that does not stop the output, if it may go on.
fn report(error: SstableError, may_go_on: bool) -> Result<(), ShowFailure> {
    if !may_go_on {
        let hint = "use --skip-damaged to print what can be read";
        return Err(ShowFailure::Message(format!("{error}; {hint}")));
    }
    report_line!("{error}");
    Ok(())
}

fn layout(arg: LayoutArg) -> Layout {
    match arg {
        LayoutArg::Table => Layout::Sparse,
        LayoutArg::StaticCompact => Layout::StaticCompact,
        LayoutArg::Dense => Layout::Dense,
        LayoutArg::CompositeDense => Layout::CompositeDense,
        LayoutArg::Super => Layout::Super,
    }
}
