//! A do-nothing server in a process of its own, for as long as it is measured against.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use super::do_nothing::LISTENING;

/// A do-nothing server in a child process, which ends with this value.
pub struct DoNothingChild {
    child: Child,
    pub address: SocketAddr,
}

impl DoNothingChild {
    /// Starts one with these words on its command line; with `busy_poll` it keeps a processor awake.
    pub fn start(words: &[&str], busy_poll: bool) -> Result<DoNothingChild, String> {
        let said = |error: std::io::Error| format!("start the do-nothing server: {error}");
        let mut child = Command::new(std::env::current_exe().map_err(said)?)
            .args(["stress", "do-nothing-server", "--listen", "127.0.0.1:0", "--exit-with-stdin"])
            .args(words)
            .args(busy_poll.then_some("--busy-poll"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(said)?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(said)?;
        }
        let address = line.trim_end().strip_prefix(LISTENING).and_then(|address| address.parse().ok());
        match address {
            Some(address) => Ok(DoNothingChild { child, address }),
            None => {
                stop(&mut child);
                Err(format!("the do-nothing server said '{}' instead of its address", line.trim_end()))
            }
        }
    }
}

impl Drop for DoNothingChild {
    fn drop(&mut self) {
        stop(&mut self.child);
    }
}

/// Ends the child and waits for it. It may have ended by itself, which is as good.
fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
