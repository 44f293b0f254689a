//! The charts of the last minutes, as lines of SVG and in words.

use super::history::{HISTORY_MINUTES, SAMPLE_S, SAMPLES_MAX, Sample, quantile};
use base::util::metrics::{LATENCY_BOUNDS_MICROS, RequestOutcome};

/// The size of a drawing.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 100.0;
/// Methods that have a line of their own.
const METHODS_MAX: usize = 5;
/// The least number of samples for which a drawing has room: a minute. A server that has just started has a drawing too.
const SLOTS_MIN: usize = 30;
/// Samples in the figures that stand for now: ten seconds.
const NOW_SAMPLES: usize = 5;

/// A line of a chart.
pub(crate) struct ChartLine {
    pub name: String,
    /// The class of its colour.
    pub class: String,
    /// The points of its polyline.
    pub points: String,
    /// The points of the area below it.
    pub area: String,
    /// Its value now.
    pub now: String,
}

/// A chart.
pub(crate) struct Chart {
    pub title: &'static str,
    /// The value now, with its unit.
    pub now: String,
    /// The time at the left end of the drawing.
    pub since: String,
    /// The value at the top of the drawing.
    pub top: String,
    /// The chart in words, for those who do not see it.
    pub words: String,
    pub lines: Vec<ChartLine>,
}

/// Values of one line, a value for each sample; `None` where there was nothing to measure.
struct Series {
    name: String,
    values: Vec<Option<f64>>,
    now: Option<f64>,
}

/// A unit in which the values of a chart are shown.
type Unit = fn(f64) -> String;

impl Chart {
    fn of(title: &'static str, unit: Unit, series: Vec<Series>) -> Chart {
        let all = series.iter().flat_map(|one| one.values.iter().flatten());
        let most = all.copied().fold(0.0, f64::max);
        let top = round_up(most);
        let first = series.first();
        let now = |one: &Series| one.now.map_or_else(|| "–".to_owned(), unit);
        let words: Vec<String> = series
            .iter()
            .map(|one| {
                let most = one.values.iter().flatten().copied().reduce(f64::max);
                let most =
                    most.map_or_else(|| "no value".to_owned(), |most| format!("at most {}", unit(most)));
                format!("{} now {}, {most}", one.name, one.now.map_or_else(|| "no value".to_owned(), unit))
            })
            .collect();
        Chart {
            title,
            now: first.map_or_else(String::new, now),
            since: since(first.map_or(0, |one| one.values.len())),
            top: unit(top),
            words: format!("{title}, in the last {HISTORY_MINUTES} minutes: {}", words.join("; ")),
            lines: series
                .iter()
                .enumerate()
                .map(|(at, one)| {
                    let points = points(&one.values, top);
                    let area = if at == 0 { area(&points) } else { String::new() };
                    ChartLine {
                        name: one.name.clone(),
                        class: format!("line{at}"),
                        points,
                        area,
                        now: now(one),
                    }
                })
                .collect(),
        }
    }
}

/// Returns the next of 1, 2, 5, 10, 20 and so on, at least 1.
fn round_up(most: f64) -> f64 {
    let mut top = 1.0;
    for factor in [2.0, 2.5, 2.0].iter().cycle().take(60) {
        if top >= most {
            break;
        }
        top *= factor;
    }
    top
}

/// Returns the number of samples for which a drawing has room.
fn slots(samples: usize) -> usize {
    samples.clamp(SLOTS_MIN, SAMPLES_MAX)
}

fn since(samples: usize) -> String {
    match slots(samples) as u64 * SAMPLE_S {
        seconds if seconds < 120 => format!("{seconds} seconds ago"),
        seconds => format!("{} minutes ago", seconds / 60),
    }
}

/// Returns the points of a line. The last sample is at the right end.
fn points(values: &[Option<f64>], top: f64) -> String {
    let slots = slots(values.len());
    let first = slots.saturating_sub(values.len());
    let mut points = String::new();
    for (at, value) in values.iter().enumerate() {
        let Some(value) = value else { continue };
        let x = (first + at) as f64 * WIDTH / (slots - 1) as f64;
        let y = HEIGHT - (value / top).min(1.0) * (HEIGHT - 2.0) - 1.0;
        points.push_str(&format!("{x:.1},{y:.1} "));
    }
    points.trim_end().to_owned()
}

/// Returns the points of the area between a line and the bottom.
fn area(points: &str) -> String {
    let ends =
        points.split(',').next().zip(points.rsplit(' ').next().and_then(|last| last.split(',').next()));
    ends.map_or_else(String::new, |(first, last)| {
        if points.is_empty() { String::new() } else { format!("{first},{HEIGHT} {points} {last},{HEIGHT}") }
    })
}

/// Returns a rate with its unit.
fn per_second(rate: f64) -> String {
    match rate {
        rate if rate >= 9.95 => format!("{rate:.0}/s"),
        rate if rate > 0.0 => format!("{rate:.1}/s"),
        _ => "0/s".to_owned(),
    }
}

/// Returns microseconds in a unit that people read.
pub(crate) fn duration(micros: f64) -> String {
    match micros {
        micros if micros < 1e3 => format!("{micros:.0} µs"),
        micros if micros < 1e6 => format!("{:.1} ms", micros / 1e3),
        micros => format!("{:.1} s", micros / 1e6),
    }
}

fn rates(name: &str, samples: &[Sample], count: impl Fn(&Sample) -> u64) -> Series {
    let values = samples.iter().map(|sample| Some(count(sample) as f64 / sample.seconds)).collect();
    let last = last_of(samples);
    let seconds: f64 = last.iter().map(|sample| sample.seconds).sum();
    let requests: u64 = last.iter().map(&count).sum();
    let now = (seconds > 0.0).then(|| requests as f64 / seconds);
    Series { name: name.to_owned(), values, now }
}

fn last_of(samples: &[Sample]) -> &[Sample] {
    samples.get(samples.len().saturating_sub(NOW_SAMPLES)..).unwrap_or_default()
}

fn latencies(name: &str, samples: &[Sample], part: f64) -> Series {
    let values = samples.iter().map(|sample| quantile(&sample.buckets, part)).collect();
    let mut buckets = [0; LATENCY_BOUNDS_MICROS.len() + 1];
    for sample in last_of(samples) {
        buckets.iter_mut().zip(sample.buckets).for_each(|(sum, more)| *sum += more);
    }
    Series { name: name.to_owned(), values, now: quantile(&buckets, part) }
}

/// Returns the charts of the first page: requests, errors and latency.
pub(crate) fn overview(samples: &[Sample]) -> Vec<Chart> {
    vec![
        Chart::of("Requests a second", per_second, vec![rates("requests", samples, Sample::requests)]),
        latency(samples),
        Chart::of("Errors a second", per_second, vec![rates("errors", samples, Sample::failed)]),
    ]
}

fn latency(samples: &[Sample]) -> Chart {
    let percentiles = [("median", 0.5), ("95 %", 0.95), ("99 %", 0.99)];
    let series = percentiles.map(|(name, part)| latencies(name, samples, part));
    Chart::of("Latency", duration, series.into())
}

/// Returns the charts of all requests: by method, by outcome, and their latency.
pub(crate) fn details(samples: &[Sample]) -> Vec<Chart> {
    vec![by_method(samples), latency(samples), by_outcome(samples)]
}

fn by_method(samples: &[Sample]) -> Chart {
    let mut sums: Vec<(&'static str, u64)> = Vec::new();
    for method in samples.iter().flat_map(|sample| &sample.methods) {
        let requests = method.ok + method.failed;
        match sums.iter_mut().find(|(known, _)| *known == method.method) {
            Some((_, sum)) => *sum += requests,
            None => sums.push((method.method, requests)),
        }
    }
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    let mut series = vec![rates("all", samples, Sample::requests)];
    for (method, _) in sums.into_iter().take(METHODS_MAX) {
        series.push(rates(method, samples, |sample| {
            let found = sample.methods.iter().find(|known| known.method == method);
            found.map_or(0, |found| found.ok + found.failed)
        }));
    }
    Chart::of("Requests a second by method", per_second, series)
}

fn by_outcome(samples: &[Sample]) -> Chart {
    let failed = RequestOutcome::ALL.iter().skip(RequestOutcome::Invalid as usize);
    let mut series = vec![rates("all", samples, Sample::failed)];
    for outcome in failed {
        let count = |sample: &Sample| sample.outcomes.get(*outcome as usize).copied().unwrap_or_default();
        if samples.iter().any(|sample| count(sample) > 0) {
            series.push(rates(&outcome.label().replace('_', " "), samples, count));
        }
    }
    Chart::of("Errors a second by kind", per_second, series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::history::MethodSample;

    fn sample(requests: u64) -> Sample {
        let methods = vec![MethodSample { method: "get", ok: requests, failed: 0 }];
        let mut sample = Sample { seconds: 2.0, methods, ..Sample::default() };
        (sample.outcomes[0], sample.buckets[4]) = (requests, requests);
        sample
    }

    #[test]
    fn charts_have_lines_and_words() {
        let samples = [sample(0), sample(20), sample(10)];
        let charts = overview(&samples);
        assert_eq!(charts[0].now, "5.0/s");
        assert_eq!(charts[0].top, "10/s");
        let expected = "Requests a second, in the last 10 minutes: requests now 5.0/s, at most 10/s";
        assert_eq!(charts[0].words, expected);
        assert_eq!(charts[0].lines[0].points, "558.6,99.0 579.3,1.0 600.0,50.0");
        assert_eq!(charts[0].lines[0].area, "558.6,100 558.6,99.0 579.3,1.0 600.0,50.0 600.0,100");
        // The first sample had no request, so it had no latency.
        assert_eq!(charts[1].lines[0].points.split(' ').count(), 2);
        assert_eq!(details(&samples)[0].lines[1].name, "get");
    }

    #[test]
    fn a_drawing_grows_until_the_ring_is_full() {
        assert_eq!(
            [0, 40, 60, SAMPLES_MAX].map(since).join(", "),
            "60 seconds ago, 80 seconds ago, 2 minutes ago, 10 minutes ago"
        );
    }

    #[test]
    fn charts_without_samples_are_empty() {
        for chart in overview(&[]).into_iter().chain(details(&[])) {
            assert_eq!((&*chart.now, &*chart.lines[0].points), ("–", ""), "{}", chart.title);
        }
    }

    #[test]
    fn the_top_of_a_chart_is_a_round_number() {
        assert_eq!(
            [0.0, 1.0, 1.5, 3.0, 7.0, 11.0, 1234.0].map(round_up),
            [1.0, 1.0, 2.0, 5.0, 10.0, 20.0, 2000.0]
        );
    }
}
