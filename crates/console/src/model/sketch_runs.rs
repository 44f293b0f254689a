//! Runs sketches within limits: a few at a time, each with limited memory and time, on threads of their own.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::shown_model::ShownModel;
use super::sketch::{Area, OpenSketch, Sketch, SketchError};
use crate::limits::{SKETCH_FAMILIES_MAX, SKETCH_MEMORY_BYTES, SKETCH_S, SKETCH_WAIT_S, SKETCHES_MAX};
use base::marshal::Types;
use base::util::meter::{RequestLimits, RequestMemory, RequestMeter, TimeLimits, metered};

/// The sketches that run now.
pub(crate) struct SketchRuns {
    places: Arc<Semaphore>,
}

impl Default for SketchRuns {
    fn default() -> SketchRuns {
        SketchRuns { places: Arc::new(Semaphore::new(SKETCHES_MAX)) }
    }
}

impl SketchRuns {
    /// Runs a sketch and shows it. `None` if other sketches hold all places for too long.
    pub(crate) async fn show(&self, sketch: Sketch, types: Types) -> Option<ShownModel> {
        let waiting = self.places.clone().acquire_owned();
        let place = tokio::time::timeout(Duration::from_secs(SKETCH_WAIT_S), waiting).await.ok()?.ok()?;
        let runtime = tokio::runtime::Handle::current();
        // Long statements must not hold the threads that serve connections.
        let work = tokio::task::spawn_blocking(move || {
            let _place = place;
            runtime.block_on(show(&sketch, &types))
        });
        Some(work.await.unwrap_or_else(|_| {
            let why = "the sketch could not be shown, which is an error of the server: its log has the cause";
            ShownModel::failed(vec![SketchError::new(Area::Definition, why)])
        }))
    }
}

/// Runs a sketch and shows it, however far it came.
pub(super) async fn show(sketch: &Sketch, types: &Types) -> ShownModel {
    let too_long = sketch.check_lengths();
    if !too_long.is_empty() {
        return ShownModel::failed(too_long);
    }
    let open = match OpenSketch::new(sketch, types) {
        Ok(open) => open,
        Err(errors) => return ShownModel::failed(errors),
    };
    let limits = RequestLimits {
        memory: Arc::new(RequestMemory::new(SKETCH_MEMORY_BYTES)),
        times: TimeLimits::of_all(SKETCH_S * 1000),
    };
    let meter = Arc::new(RequestMeter::new(&limits, Arc::default()));
    let work = async {
        let errors = open.run(sketch).await.err();
        if open.catalog().column_families().count() > SKETCH_FAMILIES_MAX {
            return ShownModel::failed(errors.into_iter().collect());
        }
        let mut model = ShownModel::of(&open).await;
        model.errors.extend(errors);
        model
    };
    let time = Duration::from_secs(SKETCH_S);
    let shown = tokio::time::timeout(time, Box::pin(metered(meter, work))).await;
    let shown = shown.unwrap_or_else(|_| {
        let why = format!("the sketch took longer than {SKETCH_S} seconds: use fewer tables and rows");
        ShownModel::failed(vec![SketchError::new(Area::Definition, why)])
    });
    open.close().await;
    shown
}
