//! From raw values to class sums per bin: `cargo bench -p aucrank-benches --bench data`.

mod sample;

use std::hint::black_box;

use aucrank::Interrupt;
use aucrank::data::{
    Binned, BinningParams, Columns, CountedRows, FeatureBins, HistogramRequest, Labels,
    MemorySource, SumSource,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sample::{N_FEATURES, N_ROWS, sample};

/// Class sums of one feature, bin by bin: positive, negative.
fn plain_sums(cuts: &[f64], values: &[f64], feature: usize, positive: &[bool]) -> Vec<[u64; 2]> {
    let mut sums = vec![[0; 2]; cuts.len() + 1];
    for (row, &is_positive) in values.chunks_exact(N_FEATURES).zip(positive) {
        let bin = cuts.iter().filter(|&&cut| cut <= row[feature]).count();
        sums[bin][usize::from(!is_positive)] += 1;
    }
    sums
}

fn data(c: &mut Criterion) {
    let (values, positive) = sample();
    let columns = Columns::from_row_major(&values, N_FEATURES).expect("a matrix");
    let labels = Labels::new(&positive, None).expect("both classes");
    let interrupt = Interrupt::default();
    let bin = || {
        let params = BinningParams::default();
        Binned::new(&columns, &labels, params, &interrupt).expect("finite values")
    };
    let binned = bin();
    let source = MemorySource::new(&binned, CountedRows(&positive), labels.rows(), &interrupt);
    let count = || source.histograms(&[HistogramRequest::all(0)]).expect("nobody interrupts");

    let histogram = count().remove(0);
    for (feature, sums) in histogram.features() {
        let FeatureBins::Numeric { cuts } = &binned.features()[feature] else {
            panic!("all features are numeric")
        };
        assert_eq!(cuts.len(), 254);
        let mut found = vec![[0; 2]; cuts.len() + 1];
        for (code, sums) in sums.occupied() {
            found[code as usize] = [sums.pos, sums.neg];
        }
        assert_eq!(found, plain_sums(cuts, &values, feature, &positive), "feature {feature}");
    }

    let mut group = c.benchmark_group("data");
    group.throughput(Throughput::Elements((N_ROWS * N_FEATURES) as u64));
    group.bench_function("bins of 200,000 x 20", |b| b.iter(|| black_box(bin())));
    group.bench_function("root histogram of 200,000 x 20", |b| b.iter(|| black_box(count())));
    group.finish();
}

criterion_group!(benches, data);
criterion_main!(benches);
