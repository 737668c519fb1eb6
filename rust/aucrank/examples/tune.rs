use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::{Rng, SeedableRng}};
use std::time::Instant;
fn time<T>(mut f: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::MAX; let mut out = None;
    let t0 = Instant::now();
    let mut reps = 0;
    while reps < 5 || (t0.elapsed().as_secs_f64() < 0.5) { let t = Instant::now(); out = Some(f()); best = best.min(t.elapsed().as_secs_f64()); reps += 1; }
    (best, out.unwrap())
}
fn main() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let pool2 = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let pool1 = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for n in [1000usize, 10_000, 100_000, 1_000_000, 10_000_000] {
        let u: Vec<f64> = (0..n).map(|_| (rng.next_u64() >> 11) as f64 / (1u64<<53) as f64).collect();
        let g: Vec<f64> = (0..n).map(|_| { let a = (rng.next_u64() >> 11) as f64 / (1u64<<53) as f64; let b = (rng.next_u64() >> 11) as f64 / (1u64<<53) as f64; (-2.0*(1.0-a).ln()).sqrt()*(6.283185307*b).cos()}).collect();
        let y: Vec<bool> = (0..n).map(|_| rng.next_u64() % 10 < 3).collect();
        let w: Vec<f64> = (0..n).map(|_| (rng.next_u64() >> 11) as f64 / (1u64<<53) as f64).collect();
        let g2: Vec<f64> = g.iter().zip(&y).map(|(s, &y)| s + f64::from(y)).collect();
        let g32: Vec<f32> = g2.iter().map(|&s| s as f32).collect();
        let t: Vec<f64> = u.iter().map(|s| (s*100.0).floor()).collect();
        let t2: Vec<f64> = u.iter().map(|s| (s*30000.0).floor()).collect();
        let mut o = g2.clone(); o[0] = 1e300; o[1]=1e-300; o[2]=0.0; o[3] = -1e-300;
        let mut a = g2.clone(); a.sort_unstable_by(f64::total_cmp);
        let d: Vec<f64> = a.iter().rev().copied().collect();
        print!("n={n:9} ");
        let p = |name: &str, f: &(dyn Fn() -> f64 + Sync)| {
            let (t1, r1) = pool1.install(|| time(f)); let (t2, r2) = pool2.install(|| time(f));
            assert_eq!(r1, r2);
            print!("{name} {:.1}/{:.1} ", t1*1e9/n as f64, t2*1e9/n as f64);
        };
        p("unif", &|| aucrank::roc::auc(&u, &y).unwrap());
        p("norm", &|| aucrank::roc::auc(&g2, &y).unwrap());
        p("f32", &|| aucrank::roc::auc(&g32, &y).unwrap());
        p("ties100", &|| aucrank::roc::auc(&t, &y).unwrap());
        p("ties30k", &|| aucrank::roc::auc(&t2, &y).unwrap());
        p("outl", &|| aucrank::roc::auc(&o, &y).unwrap());
        p("asc", &|| aucrank::roc::auc(&a, &y).unwrap());
        p("desc", &|| aucrank::roc::auc(&d, &y).unwrap());
        p("wnorm", &|| aucrank::roc::weighted_auc(&g2, &y, &w).unwrap());
        println!("ns/row");
    }
}
