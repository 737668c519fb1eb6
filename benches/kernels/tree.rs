//! One ranking tree, binning included: `cargo bench -p aucrank-benches --bench tree`.

mod sample;

use std::hint::black_box;

use aucrank::data::{Columns, Labels};
use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
use aucrank::{Interrupt, roc};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sample::{N_FEATURES, N_ROWS, sample};

fn tree(c: &mut Criterion) {
    let (values, positive) = sample();
    let columns = Columns::from_row_major(&values, N_FEATURES).expect("a matrix");
    let labels = Labels::new(&positive, None).expect("both classes");
    let params = TreeRankParams::new(
        GrowParams { max_depth: 8, ..GrowParams::default() },
        SplitRule::Stumps(LeafRankParams::orthogonal(1)),
    );
    let interrupt = Interrupt::default();
    let grow = || fit((&columns, &labels), &params, &interrupt).expect("valid input").tree;

    let tree = grow();
    assert_eq!(tree.n_leaves(), 256);
    let scores = tree.score(&columns, None).expect("the columns of the fit");
    let auc = roc::auc(&scores, &positive).expect("both classes");
    assert!((tree.auc() - auc).abs() < 1e-12);

    let mut group = c.benchmark_group("tree");
    group.sample_size(20);
    group.throughput(Throughput::Elements((N_ROWS * N_FEATURES) as u64));
    group.bench_function("orthogonal, depth 8, 200,000 x 20", |b| b.iter(|| black_box(grow())));
    group.finish();
}

criterion_group!(benches, tree);
criterion_main!(benches);
