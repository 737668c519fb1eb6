//! What a user of `aucrank::roc` waits for. Results are checked against an AUC by the sort of the
//! standard library before anything is timed.

use std::cell::RefCell;
use std::hint::black_box;

use aucrank::roc::{Ramp, RampClimber, RocCurve, auc, weighted_auc};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Half-wins counted over an index in the order of the scores.
#[expect(clippy::float_cmp, reason = "a tie is exact equality")]
fn auc_by_std_sort(scores: &[f64], positive: &[bool]) -> f64 {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let (mut half_wins, mut n_pos, mut n_neg) = (0, 0, 0);
    for tied in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let pos = tied.iter().filter(|&&row| positive[row]).count() as u64;
        let neg = tied.len() as u64 - pos;
        half_wins += pos * (2 * n_neg + neg);
        n_pos += pos;
        n_neg += neg;
    }
    half_wins as f64 / (2 * n_pos * n_neg) as f64
}

fn bench_roc(criterion: &mut Criterion) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut uniform = || (rng.next_u64() >> 11) as f64 * 2_f64.powi(-53);
    for n in [1_000, 100_000, 1_000_000] {
        let positive: Vec<bool> = (0..n).map(|_| uniform() < 0.3).collect();
        let scores: Vec<f64> = positive
            .iter()
            .map(|&p| {
                let u = uniform();
                (u / (1.0 - u)).ln() + f64::from(p)
            })
            .collect();
        let narrow: Vec<f32> = scores.iter().map(|&s| s as f32).collect();
        let tied: Vec<f64> = scores.iter().map(|s| (s * 10.0).round()).collect();
        let weights: Vec<f64> = scores.iter().map(|_| uniform()).collect();
        let whole: Vec<f64> = weights.iter().map(|w| (4.0 * w).ceil()).collect();
        let mut ascending = scores.clone();
        ascending.sort_unstable_by(f64::total_cmp);
        for sample in [&scores, &tied, &ascending] {
            assert_eq!(auc(sample, &positive), Ok(auc_by_std_sort(sample, &positive)));
        }

        let mut group = criterion.benchmark_group("roc");
        group.throughput(Throughput::Elements(n as u64)).sample_size(20);
        let mut bench = |name: &str, call: &dyn Fn() -> f64| {
            group.bench_function(BenchmarkId::new(name, n), |bencher| {
                bencher.iter(|| black_box(call()));
            });
        };
        bench("auc f64", &|| auc(&scores, &positive).unwrap());
        bench("auc f32", &|| auc(&narrow, &positive).unwrap());
        bench("auc ties", &|| auc(&tied, &positive).unwrap());
        bench("auc sorted", &|| auc(&ascending, &positive).unwrap());
        bench("auc weighted", &|| weighted_auc(&scores, &positive, &weights).unwrap());
        bench("auc whole weights", &|| weighted_auc(&scores, &positive, &whole).unwrap());
        bench("ramp gradient", &|| {
            Ramp::default().gradient(&scores, &positive, None).unwrap().by_score[0]
        });
        let class =
            |class: bool| positive.iter().map(|&p| u64::from(p == class)).collect::<Vec<_>>();
        let climber = RampClimber::new(Ramp::default(), &class(false), &class(true)).unwrap();
        let climber = RefCell::new(climber);
        bench("ramp climber", &|| climber.borrow_mut().evaluate(&scores).unwrap());
        bench("ramp climber ties", &|| climber.borrow_mut().evaluate(&tied).unwrap());
        bench("std sort of the scores", &|| {
            let mut sorted = scores.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted[0]
        });
        bench("auc by std sort", &|| auc_by_std_sort(&scores, &positive));
        bench("curve", &|| RocCurve::new(&scores, &positive).unwrap().auc());
        bench("curve weighted", &|| {
            RocCurve::weighted(&scores, &positive, &weights).unwrap().auc()
        });
        let curve = RocCurve::new(&scores, &positive).unwrap();
        bench("hull", &|| curve.hull().auc());
        group.finish();
    }
}

criterion_group!(benches, bench_roc);
criterion_main!(benches);
