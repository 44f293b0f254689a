//! Chooses the subject of the doctor.

use std::path::{Path, PathBuf};

use clap::Args;

use super::finding::Findings;
use super::{configuration, directory, machine, server};
use crate::cli::Result;
use base::marshal::Types;
use base::util::output::print_line;
use config::{Config, path_suggestion};

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The subject to examine: a configuration file, a directory, or the HOST:PORT of a server [default: what `serve`
    /// would use]
    ///
    /// A configuration is examined with its directories and ports. A directory is a data directory, or one of an old
    /// Cassandra. A server speaks Thrift, the native protocol, or HTTP (the admin server and the status port).
    #[arg(value_name = "FILE|DIR|HOST:PORT")]
    subject: Option<String>,
    /// The configuration that a data directory must fit
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Read every byte of a data directory, and compare all checksums
    ///
    /// A server may be using the directory. Then tables are read at a limited rate.
    #[arg(long, requires = "subject")]
    verify: bool,
}

/// Something to look at.
#[derive(Debug, PartialEq, Eq)]
enum DoctorSubject<'a> {
    /// A configuration; `None` for the one that `serve` finds.
    Configuration(Option<&'a Path>),
    Directory(&'a Path),
    Server(&'a str),
}

/// Prints findings. Fails with their number if there are problems.
pub(crate) fn doctor(args: &DoctorArgs, types: &Types) -> Result<()> {
    let mut findings = Findings::default();
    match subject_of(args)? {
        DoctorSubject::Configuration(file) => {
            machine::check(&mut findings);
            if let Some(config) = configuration::load(file, types, &mut findings) {
                configuration::check(&config, &mut findings);
            }
        }
        DoctorSubject::Directory(path) => {
            let config: Option<Config> = match &args.config {
                Some(file) => configuration::load(Some(file), types, &mut findings),
                None => None,
            };
            directory::check(path, config.as_ref(), args.verify, &mut findings);
        }
        DoctorSubject::Server(address) => server::check(address, &mut findings)?,
    }
    findings.print();
    if findings.problems() > 0 {
        return Err(findings.summary());
    }
    print_line!("\n{}", findings.summary());
    Ok(())
}

fn subject_of(args: &DoctorArgs) -> Result<DoctorSubject<'_>> {
    let Some(text) = &args.subject else { return Ok(DoctorSubject::Configuration(args.config.as_deref())) };
    let path = Path::new(text);
    let subject = if path.is_dir() {
        DoctorSubject::Directory(path)
    } else if path.is_file() {
        DoctorSubject::Configuration(Some(path))
    } else if is_address(text) {
        DoctorSubject::Server(text)
    } else {
        return Err(format!(
            "{text:?} is neither a file nor a directory that exists, nor an address: give a configuration, a data directory, \
             or HOST:PORT, such as 127.0.0.1:9160{}",
            path_suggestion(path)
        ));
    };
    match (&subject, &args.config) {
        (DoctorSubject::Directory(_), _) => Ok(subject),
        _ if args.verify => {
            Err("--verify is for a directory; for that of a running server, you can also send POST \
             /verify to its admin server"
                .to_owned())
        }
        (_, None) => Ok(subject),
        _ => Err("--config is for a directory; remove it".to_owned()),
    }
}

fn is_address(text: &str) -> bool {
    let port = text.rsplit_once(':').map(|(host, port)| (!host.is_empty(), port.parse::<u16>()));
    matches!(port, Some((true, Ok(1..))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_a_file_a_directory_or_an_address() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.xml");
        std::fs::write(&file, "<Storage/>").unwrap();
        let args = |subject: &str, config: Option<&str>| DoctorArgs {
            subject: Some(subject.to_owned()),
            config: config.map(PathBuf::from),
            verify: false,
        };
        let (path, text) = (directory.path().to_str().unwrap(), file.to_str().unwrap());
        assert_eq!(subject_of(&args(path, Some("b.xml"))), Ok(DoctorSubject::Directory(directory.path())));
        assert_eq!(subject_of(&args(text, None)), Ok(DoctorSubject::Configuration(Some(&file))));
        assert_eq!(subject_of(&args("[::1]:9160", None)), Ok(DoctorSubject::Server("[::1]:9160")));
        assert!(subject_of(&args("[::1]:9160", Some("b.xml"))).unwrap_err().contains("--config"));
        for wrong in ["nothing", "host:0", ":9160", "host:port"] {
            assert!(subject_of(&args(wrong, None)).unwrap_err().contains("HOST:PORT"), "{wrong}");
        }
        let none = DoctorArgs { subject: None, config: None, verify: false };
        assert_eq!(subject_of(&none), Ok(DoctorSubject::Configuration(None)));
        for args in [args(text, None), args("[::1]:9160", None)] {
            let why = subject_of(&DoctorArgs { verify: true, ..args }).unwrap_err();
            assert!(why.contains("--verify is for a directory"), "{why}");
        }
    }
}
