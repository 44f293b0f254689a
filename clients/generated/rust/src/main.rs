//! The library of `../README.md` on a generated client: `library LINE HOST PORT`.

#[cfg_attr(feature = "line_0_7", path = "../build/0.7/cassandra.rs")]
#[cfg_attr(feature = "line_1_0", path = "../build/1.0/cassandra.rs")]
#[cfg_attr(feature = "line_2_1", path = "../build/2.1/cassandra.rs")]
#[allow(dead_code, unused, clippy::all)]
mod cassandra;
mod library;
#[cfg(feature = "conditions")]
mod since_2_1;
#[cfg(feature = "counters")]
mod since_1_0;
mod words;

use std::process::ExitCode;

use thrift::protocol::{TBinaryInputProtocol, TBinaryOutputProtocol};
use thrift::transport::{
    ReadHalf, TFramedReadTransport, TFramedWriteTransport, TIoChannel, TTcpChannel, WriteHalf,
};

use crate::cassandra::CassandraSyncClient;
use crate::library::Library;

type Client = CassandraSyncClient<
    TBinaryInputProtocol<TFramedReadTransport<ReadHalf<TTcpChannel>>>,
    TBinaryOutputProtocol<TFramedWriteTransport<WriteHalf<TTcpChannel>>>,
>;

fn connect(host: &str, port: &str) -> thrift::Result<Client> {
    let mut channel = TTcpChannel::new();
    channel.open(format!("{host}:{port}"))?;
    let (reader, writer) = channel.split()?;
    let input = TBinaryInputProtocol::new(TFramedReadTransport::new(reader), true);
    let output = TBinaryOutputProtocol::new(TFramedWriteTransport::new(writer), true);
    Ok(CassandraSyncClient::new(input, output))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let mut library = match connect(&arguments[2], &arguments[3]) {
        Ok(client) => Library::new(client),
        Err(error) => {
            println!("cannot connect: {error}");
            return ExitCode::FAILURE;
        }
    };
    let outcome = library.run();
    println!("{} checks", library.checks);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            println!("{failure}");
            ExitCode::FAILURE
        }
    }
}
