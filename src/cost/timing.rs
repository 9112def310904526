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

/// So many pairs make a ratio good enough to be told: on a machine that was busy with other things (two cores, 148
/// certificates, OpenSSL 3.0) the ratio of a store to the same with each certificate twice lay between 2.0 and 2.2, with 16
/// pairs between 1.9 and 2.4.
pub const GOOD_PAIRS: usize = 36;

/// For the interval, pairs are put together into this many blocks, or up to twice as many where there are few. With 12 it
/// may leave out the lowest and the highest; more would make it narrower on a quiet machine, and worthless on a busy one:
/// the least of a block is the better the more runs it has.
const BLOCKS: usize = 12;
/// For the ratio.
const LARGER_BLOCKS: usize = 8;

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
    /// Second by first: the median of ratios of blocks, each of the least second and the least first of its block.
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
        let ratios = ratios(first, second, BLOCKS)?;
        let skip = outside(ratios.len());
        let ends = skip.unwrap_or(0);
        let (low, high) = (*ratios.get(ends)?, *ratios.get(ratios.len().checked_sub(1 + ends)?)?);
        // Fewer and larger blocks are surer of the middle, and say nothing of the ends.
        let ratio = quantile(&self::ratios(first, second, LARGER_BLOCKS)?, 0.5)?.clamp(low, high);
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
        Some(Self { pairs, ratio, low, high, verdict })
    }
}

/// Of two series of equal length: they are cut into about this many blocks, and of each the least second is divided by the
/// least first. Sorted; `None` where there is none, or a time is zero.
fn ratios(first: &[u64], second: &[u64], blocks: usize) -> Option<Vec<f64>> {
    let size = (first.len() / blocks).max(1);
    let least = |series: &[u64]| series.iter().copied().min().filter(|&time| time > 0);
    // What is left over is a block as well, where it is not much smaller than the others.
    let blocks = first.chunks(size).zip(second.chunks(size)).filter(|(block, _)| 2 * block.len() > size);
    let ratios: Option<Vec<f64>> =
        blocks.map(|(first, second)| Some(least(second)? as f64 / least(first)? as f64)).collect();
    ratios.filter(|ratios| !ratios.is_empty()).map(sorted)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in [0, 1) that look like chance and are the same in every run (xorshift64*).
    struct Chance(u64);

    impl Chance {
        fn next(&mut self) -> f64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// A busy machine: phases of several runs in which everything takes up to twice as long, what two runs of one pair
    /// have not in common, and now and then a run that takes five times as long.
    fn series(seed: u64, pairs: usize, first: f64, second: f64) -> (Vec<u64>, Vec<u64>) {
        let mut chance = Chance(seed * 0x9e37_79b9 + 1);
        let mut phase = 1.0;
        let mut times = |base: f64, phase: f64| {
            let outlier = if chance.next() < 0.05 { 5.0 } else { 1.0 };
            (base * phase * (1.0 + 0.25 * chance.next().powi(3)) * outlier) as u64
        };
        let mut phases = Chance(seed + 7);
        let mut out = (Vec::new(), Vec::new());
        for _ in 0..pairs {
            if phases.next() < 0.2 {
                phase = 1.0 + phases.next();
            }
            out.0.push(times(first, phase));
            out.1.push(times(second, phase));
        }
        out
    }

    fn compare(pair: &(Vec<u64>, Vec<u64>)) -> Comparison {
        Comparison::of(&pair.0, &pair.1).unwrap()
    }

    #[test]
    fn the_same_is_within_noise() {
        for seed in 1..=500 {
            for pairs in [8, 15, 24, 100] {
                let comparison = compare(&series(seed, pairs, 25e6, 25e6));
                assert_eq!(comparison.verdict, Verdict::WithinNoise, "{seed}: {comparison:?}");
            }
        }
    }

    #[test]
    fn one_per_cent_is_within_noise_however_sure() {
        for seed in 1..=200 {
            let comparison = compare(&series(seed, 100, 25e6, 25.25e6));
            assert_eq!(comparison.verdict, Verdict::WithinNoise, "{seed}: {comparison:?}");
        }
        let sure = Comparison::of(&[25_000_000; 1000], &[25_250_000; 1000]).unwrap();
        assert_eq!((sure.low, sure.high, sure.verdict), (1.01, 1.01, Verdict::WithinNoise));
        let less = Comparison::of(&[25_250_000; 1000], &[25_000_000; 1000]).unwrap();
        assert_eq!(less.verdict, Verdict::WithinNoise);
    }

    #[test]
    fn twice_as_much_is_slower_and_half_faster() {
        for seed in 1..=500 {
            for pairs in [36, 60, 200] {
                let (one, two) = series(seed, pairs, 25e6, 50e6);
                let there = Comparison::of(&one, &two).unwrap();
                assert_eq!(there.verdict, Verdict::Slower, "{seed}: {there:?}");
                assert!((1.8..2.2).contains(&there.ratio), "{seed}: {there:?}");
                let back = Comparison::of(&two, &one).unwrap();
                assert_eq!(back.verdict, Verdict::Faster, "{seed}: {back:?}");
                assert!((0.45..0.56).contains(&back.ratio), "{seed}: {back:?}");
            }
        }
    }

    #[test]
    fn a_tenth_more_is_seen_on_a_quiet_machine() {
        let mut chance = Chance(3);
        let mut times = |base: f64| -> Vec<u64> {
            (0..80).map(|_| (base * (1.0 + 0.02 * chance.next())) as u64).collect()
        };
        let comparison = Comparison::of(&times(25e6), &times(27.5e6)).unwrap();
        assert_eq!(comparison.verdict, Verdict::Slower, "{comparison:?}");
    }

    #[test]
    fn microseconds_are_noise() {
        // Half as much again, but 0.01 ms.
        let comparison = Comparison::of(&[20_000; 100], &[30_000; 100]).unwrap();
        assert_eq!((comparison.ratio, comparison.verdict), (1.5, Verdict::WithinNoise));
        let comparison = Comparison::of(&[200_000; 100], &[300_000; 100]).unwrap();
        assert_eq!(comparison.verdict, Verdict::Slower);
    }

    #[test]
    fn outliers_have_no_weight() {
        let mut second = vec![10_000_000; 80];
        for index in (0..80).step_by(3) {
            second[index] = u64::MAX / 2;
        }
        let comparison = Comparison::of(&[10_000_000; 80], &second).unwrap();
        assert_eq!((comparison.low, comparison.ratio, comparison.high), (1.0, 1.0, 1.0));
    }

    #[test]
    fn too_few_and_none() {
        for pairs in 1..LEAST_PAIRS {
            let comparison = Comparison::of(&vec![1_000_000; pairs], &vec![9_000_000; pairs]).unwrap();
            assert_eq!(comparison.verdict, Verdict::TooFewRuns, "{pairs}");
            assert_eq!((comparison.pairs, comparison.ratio), (pairs, 9.0));
        }
        assert_eq!(Comparison::of(&[], &[1]), None);
        assert_eq!(Comparison::of(&[0; 9], &[1; 9]), None);
        assert_eq!(Comparison::of(&[1; 9], &[0; 9]), None);
        assert_eq!(Comparison::of(&[1_000_000; 9], &[1_000_000; 12]).unwrap().pairs, 9);
        assert_eq!(Statistics::of(&[]), None);
    }

    #[test]
    fn intervals_of_a_median() {
        // Tables of the sign test, two-sided 99 % (Dixon and Mood): the greatest count in the rejection region is k - 1.
        for (number, expected) in
            [(0, None), (7, None), (8, Some(0)), (11, Some(0)), (12, Some(1)), (20, Some(3)), (30, Some(7))]
        {
            assert_eq!(outside(number), expected, "{number}");
        }
    }

    #[test]
    fn statistics_of_a_series() {
        let sample = |cpu: u64| Sample { cpu: cpu * 1_000_000, wall: cpu * 2_000_000 };
        let statistics = Statistics::of(&[sample(4), sample(1), sample(3), sample(2), sample(100)]).unwrap();
        assert_eq!(
            statistics,
            Statistics { runs: 5, min_ms: 1.0, median_ms: 3.0, spread_ms: 2.0, wall_median_ms: 6.0 }
        );
        let one = Statistics::of(&[sample(7)]).unwrap();
        assert_eq!((one.min_ms, one.median_ms, one.spread_ms), (7.0, 7.0, 0.0));
        let two = Statistics::of(&[sample(1), sample(2)]).unwrap();
        assert_eq!(two.median_ms, 1.5);
    }
}
