//! What times say: statistics of samples, and a verdict on pairs. Pure: no clock is read here.

use serde::{Deserialize, Serialize};

/// One timed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// CPU time of the thread, user and system, in nanoseconds (`CLOCK_THREAD_CPUTIME_ID`).
    pub cpu: u64,
    /// Time that passed, in nanoseconds (`CLOCK_MONOTONIC`).
    pub wall: u64,
}

/// What a series of runs says. Milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// How many runs, warm-up excluded. At least one.
    pub runs: usize,
    /// The least CPU time: what the work takes when nothing disturbs it.
    pub min_ms: f64,
    /// The median of the CPU times.
    pub median_ms: f64,
    /// The interquartile range of the CPU times: half of the runs lie within it.
    pub spread_ms: f64,
    /// The median of the time that passed.
    pub wall_median_ms: f64,
}

impl Statistics {
    /// Of a series; `None` of an empty one.
    #[must_use]
    pub fn of(samples: &[Sample]) -> Option<Self> {
        let cpu = sorted(samples.iter().map(|sample| milliseconds(sample.cpu)));
        let wall = sorted(samples.iter().map(|sample| milliseconds(sample.wall)));
        Some(Self {
            runs: samples.len(),
            min_ms: *cpu.first()?,
            median_ms: quantile(&cpu, 0.5)?,
            spread_ms: quantile(&cpu, 0.75)? - quantile(&cpu, 0.25)?,
            wall_median_ms: quantile(&wall, 0.5)?,
        })
    }
}

/// A change of less than this share is called noise, however sure it is: nobody notices it, and page cache, memory
/// layout and neighbours on the machine change more from one process to the next.
pub const NOTICEABLE: f64 = 0.03;

/// And so is one of less than this many milliseconds: a look-up in a directory whose path has one more component differs
/// by a few microseconds.
pub const NOTICEABLE_MS: f64 = 0.02;

/// How sure the interval of a [`Comparison`] is.
pub const CONFIDENCE: f64 = 0.99;

/// Below this many pairs no interval is that sure: 1 - 2 / 2^8 = 0.992.
pub const LEAST_PAIRS: usize = 8;

/// Pairs are put together into about this many blocks. More would not make the interval surer, and the least of a block
/// is the better the more runs it has.
const BLOCKS: usize = 12;

/// What pairs of runs say about the second store, against the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It takes less CPU time, surely and noticeably.
    Faster,
    /// It takes more.
    Slower,
    /// Neither is sure, or the difference is too small to matter ([`NOTICEABLE`], [`NOTICEABLE_MS`]).
    WithinNoise,
    /// There are fewer than [`LEAST_PAIRS`] pairs.
    TooFewRuns,
}

impl Verdict {
    /// As reports name it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::WithinNoise => "within-noise",
            Self::TooFewRuns => "too-few-runs",
        }
    }
}

/// Two stores, run in turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// How many pairs.
    pub pairs: usize,
    /// Second by first: the median of the blocks' ratios, each of the least second and the least first of its block.
    pub ratio: f64,
    /// The lower end of the interval that holds the true median ratio with [`CONFIDENCE`].
    pub low: f64,
    /// Its upper end. With fewer than [`LEAST_PAIRS`] both are the extremes of what was seen.
    pub high: f64,
    /// What follows.
    pub verdict: Verdict,
}

impl Comparison {
    /// Of two series of equal length, in nanoseconds, whose entries of one place were run one right after the other;
    /// what the longer one has beyond is left out. `None` where there is no pair, or a time is zero.
    ///
    /// What disturbs a run makes it longer, never shorter: so pairs are put into blocks in the order in which they ran,
    /// and of each block the least of both counts. Whether the ratio of the blocks lies above or below a value is then
    /// a matter of signs (the sign test's interval of a median): outliers have a vote, and no weight.
    #[must_use]
    pub fn of(first: &[u64], second: &[u64]) -> Option<Self> {
        let pairs = first.len().min(second.len());
        let (first, second) = (&first[..pairs], &second[..pairs]);
        let size = (pairs / BLOCKS).max(1);
        // What is left over joins the last block.
        let blocks = pairs.checked_div(size)?;
        let block = |index: usize| {
            let range = index * size..if index + 1 == blocks { pairs } else { (index + 1) * size };
            let least = |series: &[u64]| series[range.clone()].iter().min().copied().unwrap_or(0);
            (least(first), least(second))
        };
        let mut ratios = Vec::with_capacity(blocks);
        for (first, second) in (0..blocks).map(block) {
            if first == 0 || second == 0 {
                return None;
            }
            ratios.push(second as f64 / first as f64);
        }
        let ratios = sorted(ratios);
        let skip = outside(blocks);
        let (low, high) = (*ratios.get(skip.unwrap_or(0))?, *ratios.get(blocks - 1 - skip.unwrap_or(0))?);
        let base = quantile(&sorted(first.iter().map(|&time| milliseconds(time))), 0.5)?;
        let verdict = if skip.is_none() {
            Verdict::TooFewRuns
        } else if low > 1.0 + NOTICEABLE && (low - 1.0) * base > NOTICEABLE_MS {
            Verdict::Slower
        } else if high < 1.0 / (1.0 + NOTICEABLE) && (1.0 - high) * base > NOTICEABLE_MS {
            Verdict::Faster
        } else {
            Verdict::WithinNoise
        };
        Some(Self { pairs, ratio: quantile(&ratios, 0.5)?, low, high, verdict })
    }
}

/// How many of `number` sorted values may be left out at each end, so that what is between holds the true median with
/// [`CONFIDENCE`]: the median lies below the lowest k+1 when at most k of them fall below it, each with one half.
fn outside(number: usize) -> Option<usize> {
    let number = i32::try_from(number).ok()?;
    let mut skip = None;
    let mut term = 0.5_f64.powi(number);
    let mut tail = term;
    for k in 0..number {
        if 1.0 - 2.0 * tail < CONFIDENCE {
            break;
        }
        skip = Some(k as usize);
        term *= f64::from(number - k) / f64::from(k + 1);
        tail += term;
    }
    skip
}

fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Between the two nearest of sorted values, in proportion (type 7 of Hyndman and Fan, as most programs do it).
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let below = *sorted.get(place.floor() as usize)?;
    let above = *sorted.get(place.ceil() as usize)?;
    Some(below + (above - below) * place.fract())
}
