//! Reports to the service manager that started the process when the server is ready, and when it stops. This is systemd's
//! protocol, for units with `Type=notify`. Without NOTIFY_SOCKET in the environment nothing is reported.

/// Reports that all ports accept clients.
pub(super) fn report_ready() {
    report(ServiceState::Ready);
}

/// Reports that the server is stopping.
pub(super) fn report_stopping() {
    report(ServiceState::Stopping);
}

enum ServiceState {
    Ready,
    Stopping,
}

#[cfg(target_os = "linux")]
fn report(state: ServiceState) {
    let state = match state {
        ServiceState::Ready => sd_notify::NotifyState::Ready,
        ServiceState::Stopping => sd_notify::NotifyState::Stopping,
    };
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!("cannot report the state of the server to the service manager: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
fn report(_: ServiceState) {}
