//! The meter of a connection that runs one request at a time.

use std::sync::Arc;
use std::time::Instant;

use super::presence::ClientPresence;
use super::request_meter::RequestMeter;
use super::time_limits::RequestLimits;
use crate::util::RequestPermit;

/// The meter of a connection that runs one request at a time. The same meter is used again unless an earlier request
/// still holds it.
#[derive(Debug, Default)]
pub struct MeterSlot {
    meter: Option<Arc<RequestMeter>>,
    client: Arc<ClientPresence>,
}

impl MeterSlot {
    /// Returns the client of the connection.
    #[inline]
    pub fn client(&self) -> &Arc<ClientPresence> {
        &self.client
    }

    /// Returns a meter for the next request, which began at `began`. The meter holds the request's permit.
    pub fn begin(
        &mut self,
        limits: &RequestLimits,
        permit: Option<RequestPermit>,
        began: Instant,
    ) -> Arc<RequestMeter> {
        // Work of a dropped request on another thread may still hold the last meter.
        if self.meter.as_mut().is_none_or(|meter| Arc::get_mut(meter).is_none()) {
            self.meter = None;
        }
        let client = &self.client;
        let meter = self.meter.get_or_insert_with(|| Arc::new(RequestMeter::new(limits, client.clone())));
        if let Some(meter) = Arc::get_mut(meter) {
            meter.restart(permit, began);
        }
        meter.clone()
    }

    /// Returns the memory of the request, after its meter has been dropped everywhere else.
    #[inline]
    pub fn end(&mut self) {
        if let Some(meter) = self.meter.as_mut() {
            match Arc::get_mut(meter) {
                Some(meter) => meter.reset(),
                None => self.meter = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::limits::REQUEST_MEMORY_BYTES_MIN;
    use crate::util::meter::RequestMemory;

    #[test]
    fn each_request_starts_without_memory() {
        let memory = Arc::new(RequestMemory::new(REQUEST_MEMORY_BYTES_MIN));
        let limits = RequestLimits { memory: memory.clone(), ..RequestLimits::default() };
        let mut slot = MeterSlot::default();
        for holds_on in [false, true, false] {
            let meter = slot.begin(&limits, None, Instant::now());
            assert_eq!((meter.used(), memory.held()), (0, 0));
            meter.charge(memory.share()).unwrap();
            let other = holds_on.then(|| meter.clone());
            drop(meter);
            slot.end();
            // Work that still runs on another thread holds its memory until it ends.
            assert_eq!(memory.held() > 0, holds_on);
            drop(other);
        }
        assert_eq!(memory.held(), 0);
    }
}
