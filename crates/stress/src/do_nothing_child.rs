//! A do-nothing server in a child process, while it is measured against.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use super::do_nothing::LISTENING;

/// A do-nothing server in a child process. Dropping this value ends it.
pub(crate) struct DoNothingChild {
    child: Child,
    pub address: SocketAddr,
}

impl DoNothingChild {
    /// Starts the server with these arguments; with `busy_poll` it keeps a processor awake.
    pub(crate) fn start(words: &[&str], busy_poll: bool) -> Result<DoNothingChild, String> {
        let failed = |error: std::io::Error| format!("start the do-nothing server: {error}");
        let mut child = Command::new(std::env::current_exe().map_err(failed)?)
            .args(["stress", "do-nothing-server", "--listen", "127.0.0.1:0", "--exit-with-stdin"])
            .args(words)
            .args(busy_poll.then_some("--busy-poll"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(failed)?;
        }
        let address = line.trim_end().strip_prefix(LISTENING).and_then(|address| address.parse().ok());
        match address {
            Some(address) => Ok(DoNothingChild { child, address }),
            None => {
                stop(&mut child);
                Err(format!("the do-nothing server printed '{}' instead of its address", line.trim_end()))
            }
        }
    }
}

impl Drop for DoNothingChild {
    fn drop(&mut self) {
        stop(&mut self.child);
    }
}

/// Ends the child and waits for it. It may have ended already.
fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
