//! Reports to the service manager that started the process when the server is ready, and when it stops. This is systemd's
//! protocol, for units with `Type=notify`. Without NOTIFY_SOCKET in the environment nothing is reported.

/// Reports that all ports accept clients.
pub(super) fn report_ready() {
    report(State::Ready);
}

/// Reports that the server is stopping.
pub(super) fn report_stopping() {
    report(State::Stopping);
}

enum State {
    Ready,
    Stopping,
}

#[cfg(target_os = "linux")]
fn report(state: State) {
    let state = match state {
        State::Ready => sd_notify::NotifyState::Ready,
        State::Stopping => sd_notify::NotifyState::Stopping,
    };
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!("cannot report the state of the server to the service manager: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
fn report(_: State) {}
