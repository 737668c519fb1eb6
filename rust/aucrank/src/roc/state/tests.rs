use std::io::{Read, Seek, Write};

use proptest::prelude::*;

use super::cells::{LOWEST, PlacedDigits, add_shifted, add_words};
use super::files::FRAME_IN_FILE;
use super::store::BUFFER;
use super::*;
use crate::roc::{PartialAreas, weighted_auc};

type Row = (f64, bool, u8);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let score = prop_oneof![
        (-3..4_i8).prop_map(f64::from),
        -1.0..1.0,
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(-0.0),
    ];
    prop::collection::vec((score, any::<bool>(), 0..4_u8), 0..120).prop_map(|mut rows| {
        rows.extend([(0.5, true, 1), (0.25, true, 2), (0.5, false, 1), (0.0, false, 3)]);
        rows
    })
}

fn parts(rows: &[Row]) -> (Vec<f64>, Vec<bool>, Vec<f64>) {
    let weights = rows.iter().map(|row| f64::from(row.2)).collect();
    (rows.iter().map(|r| r.0).collect(), rows.iter().map(|r| r.1).collect(), weights)
}

fn state_of(rows: &[Row], max_size: Option<usize>, weighted: bool) -> RocState {
    let mut state = RocState::new(max_size, None).unwrap();
    let (scores, positive, weights) = parts(rows);
    state.update(&scores, &positive, weighted.then_some(&weights[..])).unwrap();
    state
}

proptest! {
    #[test]
    fn counts_are_rows_that_are_repeated(
        rows in rows(),
        more in rows(),
        max_size in prop::option::of(4..40_usize),
        weighted in any::<bool>(),
    ) {
        let repeated: Vec<Row> =
            rows.iter().flat_map(|&row| std::iter::repeat_n(row, row.2.into())).collect();
        let mut expected = state_of(&more, None, weighted);
        let (scores, positive, _) = parts(&repeated);
        expected.update(&scores, &positive, None).unwrap();
        let (scores, positive, weights) = parts(&rows);
        let counts: Vec<u64> = weights.iter().map(|&weight| weight as u64).collect();
        let mut found = state_of(&more, None, weighted);
        found.update_counts(&scores, &positive, &counts).unwrap();
        prop_assert_eq!([found.n_neg(), found.n_pos()], [expected.n_neg(), expected.n_pos()]);
        prop_assert_eq!(found.variance(), expected.variance());
        prop_assert_eq!(found.to_bytes(), expected.to_bytes());

        let mut bounded = RocState::new(max_size, None).unwrap();
        bounded.update_counts(&scores, &positive, &counts).unwrap();
        prop_assert!(max_size.is_none_or(|most| bounded.size().unwrap() <= most));
        let (found, bound) = (bounded.auc().unwrap(), bounded.auc_error_bound().unwrap());
        let (scores, positive, _) = parts(&repeated);
        let exact = crate::roc::auc(&scores, &positive).unwrap();
        prop_assert!((found - exact).abs() <= bound + 1e-12);
    }
}

#[test]
fn counts_that_cannot_be_right_are_refused() {
    let mut state = RocState::new(None, None).unwrap();
    let err = state.update_counts(&[1.0, f64::NAN], &[true, false], &[1, 2]).unwrap_err();
    assert_eq!(err, RankError::NanScore(1));
    let err = state.update_counts(&[1.0], &[true], &[]).unwrap_err();
    assert_eq!(err.to_string(), "counts has 0 rows, but y has 1");
    assert_eq!([state.n_neg(), state.n_pos()], [0, 0]);
}

/// Merges the states of randomly cut pieces: from the left, from the right, or as a tree.
fn pieced(
    rows: &[Row],
    cuts: &[usize],
    order: u8,
    max_size: Option<usize>,
    weighted: bool,
) -> RocState {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % rows.len()).collect();
    cuts.extend([0, rows.len()]);
    cuts.sort_unstable();
    let mut states: Vec<RocState> =
        cuts.windows(2).map(|c| state_of(&rows[c[0]..c[1]], max_size, weighted)).collect();
    while states.len() > 1 {
        let (into, from) = match order {
            0 => (0, 1),
            1 => (states.len() - 2, states.len() - 1),
            _ => (states.len() - 1, 0),
        };
        let mut other = states[from].clone();
        if order == 2 {
            // A query in between, which sorts the buffer.
            other.size().unwrap();
        }
        states[into].merge(other).unwrap();
        states.remove(from);
    }
    states.remove(0)
}

/// Sample variance of the placement values of both classes, from all pairs.
fn variance_by_pairs(rows: &[Row], weighted: bool) -> f64 {
    let weight = |row: &Row| if weighted { f64::from(row.2) } else { 1.0 };
    let class = |positive: bool| -> Vec<&Row> {
        rows.iter().filter(|row| row.1 == positive && weight(row) > 0.0).collect()
    };
    let (pos, neg) = (class(true), class(false));
    let wins = |p: &Row, q: &Row| 0.5 * (f64::from(p.0 > q.0) + f64::from(p.0 >= q.0));
    let total = |class: &[&Row]| class.iter().map(|row| weight(row)).sum::<f64>();
    let part = |own: &[&Row], other: &[&Row], wins: &dyn Fn(&Row, &Row) -> f64| {
        let place =
            |row: &Row| other.iter().map(|o| weight(o) * wins(row, o)).sum::<f64>() / total(other);
        let mean = own.iter().map(|row| weight(row) * place(row)).sum::<f64>() / total(own);
        let sum: f64 = own.iter().map(|row| (weight(row) * (place(row) - mean)).powi(2)).sum();
        let n = own.len() as f64;
        sum / total(own).powi(2) * n / (n - 1.0)
    };
    part(&pos, &neg, &|p, q| wins(p, q)) + part(&neg, &pos, &|q, p| wins(p, q))
}

/// Rows whose weights need two words, four, or all of them.
fn weighed() -> impl Strategy<Value = Vec<(f64, bool, f64)>> {
    let weight = |spread: i32| {
        (1.0..2.0, -spread..=spread)
            .prop_map(|(digits, exponent): (f64, i32)| digits * 2_f64.powi(exponent))
    };
    let row = move |spread| ((-4..4_i8).prop_map(f64::from), any::<bool>(), weight(spread));
    let rows = move |spread| prop::collection::vec(row(spread), 0..40);
    prop_oneof![rows(2), rows(35), rows(90), rows(1000)].prop_map(|mut rows| {
        rows.extend([(1.0, true, 0.1), (0.0, true, 3.0), (0.0, false, 0.7), (2.0, false, 1.0)]);
        rows
    })
}

fn state_of_weighed(rows: &[(f64, bool, f64)], max_size: Option<usize>) -> RocState {
    let mut state = RocState::new(max_size, None).unwrap();
    // Row by row, so that sums widen and units become finer over time.
    for &(score, positive, weight) in rows {
        state.update(&[score], &[positive], Some(&[weight])).unwrap();
        state.size().unwrap();
    }
    state
}

proptest! {
    #[test]
    fn any_weights_are_added_up_exactly_in_any_order(
        rows in weighed(), cut in any::<usize>(), by in any::<usize>(),
    ) {
        let (scores, positive): (Vec<f64>, Vec<bool>) = rows.iter().map(|r| (r.0, r.1)).unzip();
        let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let mut once = RocState::new(None, None).unwrap();
        once.update(&scores, &positive, Some(&weights)).unwrap();
        let mut turned = rows.clone();
        turned.rotate_left(by % rows.len());
        let (a, b) = turned.split_at(cut % rows.len());
        let mut state = state_of_weighed(a, None);
        state.merge(state_of_weighed(b, None)).unwrap();
        prop_assert_eq!(state.to_bytes().unwrap(), once.to_bytes().unwrap());
        prop_assert_eq!(state.auc(), weighted_auc(&scores, &positive, &weights));
        let curve = RocCurve::weighted(&scores, &positive, &weights);
        prop_assert_eq!(&state.curve(), &curve);
        prop_assert_eq!(state.auc(), Ok(curve.unwrap().auc()));
        prop_assert_eq!(state.variance(), once.variance());
        prop_assert_eq!(state.effective_rows(), once.effective_rows());
        let mut twin = RocState::from_bytes(&state.to_bytes().unwrap()).unwrap();
        prop_assert_eq!(twin.to_bytes().unwrap(), state.to_bytes().unwrap());
        twin.merge(once).unwrap();
        prop_assert_eq!(twin.auc(), state.auc());
    }

    #[test]
    fn sums_are_those_of_exact_integers(rows in weighed()) {
        // All weights are integer multiples of 2^-1100 of at most 2200 bits.
        let mut state = state_of_weighed(&rows, None);
        for class in [0, 1] {
            let own = rows.iter().filter(|row| usize::from(row.1) == class);
            let mut sum = vec![0_u64; 40];
            for row in own {
                let PlacedDigits { number, shift } = PlacedDigits::of(row.2, LOWEST);
                add_shifted(&mut sum, number, shift);
            }
            prop_assert_eq!(&sum[..state.totals[class].len()], &state.totals[class]);
        }
        let mut added = [[0_u64; 40]; 2];
        let shift = (state.low - LOWEST).unsigned_abs();
        state.settle().unwrap();
        let mut add = |masses: [&[u64]; 2]| {
            for (added, masses) in added.iter_mut().zip(masses) {
                add_words(added, masses, shift);
            }
        };
        match &mut state.table {
            EntryTable::Wide2(runs, _) => {
                runs.one().iter().for_each(|cell| add(cell.masses.each_ref().map(|m| &m[..])));
            }
            EntryTable::Wide4(runs, _) => {
                runs.one().iter().for_each(|cell| add(cell.masses.each_ref().map(|m| &m[..])));
            }
            EntryTable::Wide34(runs, _) => {
                runs.one().iter().for_each(|cell| add(cell.masses.each_ref().map(|m| &m[..])));
            }
            _ => prop_assert!(false, "0.1 is not a whole number"),
        }
        for (added, total) in added.iter().zip(&state.totals) {
            prop_assert_eq!(&added[..total.len()], total);
        }
    }

    #[test]
    fn a_bounded_state_accepts_any_weights_within_its_bound(
        rows in weighed(), max_size in 2..12_usize, cut in any::<usize>(),
    ) {
        let (a, b) = rows.split_at(cut % rows.len());
        let mut state = state_of_weighed(a, Some(max_size));
        state.merge(state_of_weighed(b, Some(max_size))).unwrap();
        prop_assert!(state.size().unwrap() <= max_size);
        let exact = state_of_weighed(&rows, None).auc().unwrap();
        let error = (state.auc().unwrap() - exact).abs();
        prop_assert!(error <= state.auc_error_bound().unwrap() + 1e-15);
        let mut twin = RocState::from_bytes(&state.to_bytes().unwrap()).unwrap();
        prop_assert_eq!(twin.to_bytes().unwrap(), state.to_bytes().unwrap());
    }

    #[test]
    fn scores_in_files_have_the_statistics_of_those_in_memory(
        rows in weighed(),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
        (unweighted, merged) in any::<(bool, bool)>(),
        (low, width) in (0.0..0.9, 0.05..1.0),
    ) {
        let folder = std::env::temp_dir();
        let spilling = || {
            RocState::new(None, None).unwrap().spilling_to(&folder, 1 << 20).unwrap()
        };
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (rows.len() + 1)).collect();
        cuts.extend([0, rows.len()]);
        cuts.sort_unstable();
        let (mut state, mut memory) = (spilling(), RocState::new(None, None).unwrap());
        for (part, cut) in cuts.windows(2).enumerate() {
            let rows = &rows[cut[0]..cut[1]];
            let scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
            let positive: Vec<bool> = rows.iter().map(|row| row.1).collect();
            let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
            let weights = (!unweighted && part % 3 < 2).then_some(&weights[..]);
            memory.update(&scores, &positive, weights).unwrap();
            if merged {
                let mut other = if part % 2 == 0 { spilling() } else { state_of(&[], None, false) };
                other.update(&scores, &positive, weights).unwrap();
                if part % 4 == 0 {
                    other.settle().unwrap();
                    other.spill_beyond(0).unwrap();
                }
                state.merge(other).unwrap();
            } else {
                state.update(&scores, &positive, weights).unwrap();
            }
            if part % 2 == 0 || part + 2 == cuts.len() {
                state.sort_waiting().unwrap();
                state.spill_beyond(0).unwrap();
            }
        }
        prop_assert!(state.files.as_ref().is_some_and(|files| !files.is_empty()));
        prop_assert_eq!(state.auc(), memory.auc());
        prop_assert_eq!(state.curve(), memory.curve());
        prop_assert_eq!(state.log_odds_line([7, 5]), memory.log_odds_line([7, 5]));
        prop_assert_eq!(state.variance(), memory.variance());
        prop_assert_eq!(state.effective_rows(), memory.effective_rows());
        prop_assert_eq!(state.size(), memory.size());
        let band = [low, f64::min(low + width, 1.0)];
        for (fpr, tpr) in [(band, [0.0, 1.0]), ([0.0, 1.0], band), (band, band)] {
            let whole = memory.curve().unwrap();
            let expected = whole.partial_auc(fpr, tpr, false);
            prop_assert_eq!(state.partial_auc(fpr, tpr, false), expected);
            let variance = |state: &mut RocState| {
                state.partial_variance(fpr, tpr, Weighting::Sampling)
            };
            prop_assert_eq!(variance(&mut state), variance(&mut memory));
        }
        let mut twin = state.clone();
        drop(state);
        prop_assert_eq!(twin.auc(), memory.auc());
        prop_assert!(twin.to_bytes().is_err());
    }

    #[test]
    fn few_knots_are_on_the_curve_and_give_the_results_of_all(
        rows in rows(), rates in prop::collection::vec(0.0..=1.0, 1..9), most in 8..40_usize,
    ) {
        let mut state = state_of(&rows, None, true);
        let all = state.curve().unwrap();
        let mut at = rates.clone();
        at.extend(all.fpr());
        prop_assert_eq!(state.tpr_at(&at), all.tpr_at(&at));
        prop_assert_eq!(state.tpr_at(&rates), all.tpr_at(&rates));
        prop_assert_eq!(state.fpr_at(&rates), all.fpr_at(&rates));
        at.extend(all.tpr());
        prop_assert_eq!(state.fpr_at(&at), all.fpr_at(&at));

        let few = state.knots(most).unwrap();
        prop_assert!(few.len() <= most);
        let points = |curve: &RocCurve| -> Vec<[f64; 3]> {
            let rates = curve.fpr().into_iter().zip(curve.tpr());
            rates.zip(curve.thresholds()).map(|((x, y), &t)| [x, y, t]).collect()
        };
        let known = points(&all);
        prop_assert!(points(&few).iter().all(|point| known.contains(point)));
        let gap = |curve: &RocCurve| {
            points(curve).iter().map(|[x, y, _]| y - x).fold(0.0, f64::max)
        };
        // Gaps that are equal as fractions may be rounded to either side.
        prop_assert!((gap(&few) - gap(&all)).abs() <= f64::EPSILON);
        // No two steps of a curve that is a sum of rates long skip more than two pieces.
        let step = 2.0 / (most - 4) as f64;
        for pair in points(&few).windows(2) {
            let sum = |point: [f64; 3]| point[0] + point[1];
            let between = |point: &&[f64; 3]| {
                (sum(pair[0])..sum(pair[1])).contains(&sum(**point)) && **point != pair[0]
            };
            let lowest = known.iter().filter(between).map(|&p| sum(p)).fold(f64::INFINITY, f64::min);
            prop_assert!(lowest == f64::INFINITY || sum(pair[1]) - lowest <= step + 1e-12);
        }
    }

    #[test]
    fn the_spread_of_a_part_is_that_of_the_rows(
        rows in rows(), (low, width) in (0.0..0.9, 0.05..1.0),
    ) {
        let (scores, positive, weights) = parts(&rows);
        let band = [low, f64::min(low + width, 1.0)];
        let mut state = state_of(&rows, None, true);
        for bands in [(band, [0.0, 1.0]), ([0.0, 1.0], band), (band, band)] {
            for how in [Weighting::Sampling, Weighting::Frequency] {
                let found = state.partial_variance(bands.0, bands.1, how).unwrap();
                let expected =
                    PartialAreas::new(&[&scores], &positive, Some(&weights), how, bands).unwrap();
                let expected = expected.covariance(0, 0);
                prop_assert_eq!(found.is_some(), expected.is_some());
                let near = |(found, expected): (f64, f64)| (found - expected).abs() < 1e-13;
                prop_assert!(found.zip(expected).is_none_or(near));
            }
        }
    }

    #[test]
    fn changed_bytes_of_wide_sums_are_refused(
        rows in weighed(), at in any::<usize>(), flip in 1..255_u8,
    ) {
        let mut bytes = state_of_weighed(&rows, None).to_bytes().unwrap();
        let n = bytes.len();
        bytes[at % n] ^= flip;
        prop_assert!(RocState::from_bytes(&bytes).is_err());
        let hash = crate::spilled::fnv1a64(&bytes[..n - 8]);
        bytes[n - 8..].copy_from_slice(&hash.to_le_bytes());
        if let Ok(mut state) = RocState::from_bytes(&bytes) {
            let _ = (state.variance(), state.curve(), state.auc_error_bound());
            state.merge(state.clone()).unwrap();
            let _ = (state.variance(), state.to_bytes().unwrap());
        }
    }

    #[test]
    fn a_unit_is_dropped_when_merged_with_exact_weights(rows in rows(), bits in 0..9_i32) {
        let (scores, positive, weights) = parts(&rows);
        let halves: Vec<f64> = weights.iter().map(|w| w / 2_f64.powi(bits)).collect();
        let state = |unit: Option<f64>| {
            let mut state = RocState::new(None, unit).unwrap();
            state.update(&scores, &positive, Some(&halves)).unwrap();
            state
        };
        let mut plain = state(None);
        plain.merge(state(None)).unwrap();
        for [a, b] in [[None, Some(bits)], [Some(bits), None]] {
            let [mut a, b] =
                [a, b].map(|bits: Option<i32>| state(bits.map(|bits| 0.5_f64.powi(bits))));
            a.merge(b).unwrap();
            prop_assert_eq!(a.weight_unit(), None);
            prop_assert_eq!(a.auc(), plain.auc());
            prop_assert_eq!(a.variance(), plain.variance());
        }
    }
}

/// The bytes of version 1, as that version wrote them.
fn first_version(unit_bits: u32, kind: u32, rows: [u64; 2], entries: &[&[u8]]) -> Vec<u8> {
    let mut bytes = b"AUCRANKS".to_vec();
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(unit_bits.to_le_bytes());
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    for number in [rows[0], rows[1], entries.len() as u64] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(entries.concat());
    let hash = crate::spilled::fnv1a64(&bytes);
    bytes.extend(hash.to_le_bytes());
    bytes
}

#[test]
fn states_of_the_first_version_are_read() {
    let words = |numbers: &[u64]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    };
    let (low, high) = (0.25_f64.key(), 0.5_f64.key());
    let entries = [words(&[low, 2, 1]), words(&[high, 0, 3])];
    let bytes = first_version(0, 0, [2, 4], &[&entries[0], &entries[1]]);
    let mut state = RocState::from_bytes(&bytes).unwrap();
    // Three of four positives win; one ties.
    assert_eq!((state.auc(), state.weight_unit()), (Ok(0.875), None));
    state.update(&[0.75], &[true], Some(&[0.3])).unwrap();
    assert_eq!((state.n_neg(), state.n_pos()), (2, 5));

    // Weights 1/2 and 3/2 at one score, 1 at another, in quarters.
    let cell = |key: u64, units: [u64; 2], squares: [u128; 2]| -> Vec<u8> {
        let mut bytes = words(&[key]);
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(words(&units));
        bytes.extend(squares.map(u128::to_le_bytes).concat());
        bytes
    };
    let entries = [cell(low, [2, 6], [4, 36]), cell(high, [0, 4], [0, 16])];
    let bytes = first_version(2, 1, [1, 2], &[&entries[0], &entries[1]]);
    let mut state = RocState::from_bytes(&bytes).unwrap();
    assert_eq!(state.weight_unit(), Some(0.25));
    let expected = weighted_auc(&[0.25, 0.25, 0.5], &[false, true, true], &[0.5, 1.5, 1.0]);
    assert_eq!(state.auc(), expected);
}

proptest! {
    #[test]
    fn any_pieces_in_any_order_equal_one_call(
        rows in rows(),
        cuts in prop::collection::vec(any::<usize>(), 0..9),
        order in 0..3_u8,
        weighted in any::<bool>(),
    ) {
        let (scores, positive, weights) = parts(&rows);
        let mut state = pieced(&rows, &cuts, order, None, weighted);
        let (whole, curve) = if weighted {
            let curve = RocCurve::weighted(&scores, &positive, &weights);
            (weighted_auc(&scores, &positive, &weights), curve)
        } else {
            (auc(&scores, &positive), RocCurve::new(&scores, &positive))
        };
        prop_assert_eq!(state.auc(), whole);
        prop_assert_eq!(state.curve(), curve);
        prop_assert_eq!(state.auc_error_bound(), Ok(0.0));
        let variance = state.variance().unwrap();
        prop_assert!((variance - variance_by_pairs(&rows, weighted)).abs() < 1e-14);
        let mut once = state_of(&rows, None, weighted);
        prop_assert_eq!(once.variance(), Ok(variance));
        prop_assert_eq!(state.to_bytes().unwrap(), once.to_bytes().unwrap());
    }

    #[test]
    fn the_error_of_a_bounded_state_is_within_its_bound(
        rows in rows(),
        cuts in prop::collection::vec(any::<usize>(), 0..9),
        order in 0..3_u8,
        max_size in 2..40_usize,
    ) {
        let (scores, positive, _) = parts(&rows);
        let mut state = pieced(&rows, &cuts, order, Some(max_size), false);
        prop_assert!(state.size().unwrap() <= max_size);
        let error = (state.auc().unwrap() - auc(&scores, &positive).unwrap()).abs();
        prop_assert!(error <= state.auc_error_bound().unwrap() + 1e-15);
        // Each knot counts the rows at or above its threshold.
        let curve = state.curve().unwrap();
        for knot in 1..curve.len() {
            let above = |class: bool| {
                let at_or_above = |row: &&Row| row.0 >= curve.thresholds()[knot];
                rows.iter().filter(|row| row.1 == class).filter(at_or_above).count() as u64
            };
            prop_assert_eq!(curve.true_positives()[knot], above(true));
            prop_assert_eq!(curve.false_positives()[knot], above(false));
        }
    }

    #[test]
    fn bytes_come_back(
        rows in rows(), max_size in prop::option::of(2..40_usize), weighted in any::<bool>(),
    ) {
        let mut state = state_of(&rows, max_size, weighted);
        let bytes = state.to_bytes().unwrap();
        let mut twin = RocState::from_bytes(&bytes).unwrap();
        prop_assert_eq!(twin.to_bytes().unwrap(), bytes);
        prop_assert_eq!(twin.variance(), state.variance());
    }

    #[test]
    fn changed_bytes_are_refused(
        rows in rows(), at in any::<usize>(), flip in 1..255_u8, weighted in any::<bool>(),
    ) {
        let mut bytes = state_of(&rows, None, weighted).to_bytes().unwrap();
        let n = bytes.len();
        prop_assert!(RocState::from_bytes(&bytes[..at % n]).is_err());
        bytes[at % n] ^= flip;
        prop_assert!(RocState::from_bytes(&bytes).is_err());
        // With a valid checksum the result must be a state or an error, never a panic.
        let hash = crate::spilled::fnv1a64(&bytes[..n - 8]);
        bytes[n - 8..].copy_from_slice(&hash.to_le_bytes());
        if let Ok(mut state) = RocState::from_bytes(&bytes) {
            let _ = (state.variance(), state.curve(), state.auc_error_bound());
        }
    }
}

#[test]
fn many_rows_take_every_path() {
    let n = 2 * BUFFER + 12_345;
    let score = |row: usize| {
        let bits = (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        bits as f64 / 1e6 - 5.0
    };
    let scores: Vec<f64> = (0..n).map(score).collect();
    let positive: Vec<bool> = (0..n).map(|row| row % 3 == 0).collect();
    let weights: Vec<f64> = (0..n).map(|row| (row % 5) as f64).collect();
    for n_threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| {
            let (mut state, mut weighted, mut bounded) = (
                RocState::new(None, 1.0).unwrap(),
                RocState::new(None, 0.25).unwrap(),
                RocState::new(Some(1000), 1.0).unwrap(),
            );
            for start in (0..n).step_by(300_000) {
                let end = (start + 300_000).min(n);
                let (s, p) = (&scores[start..end], &positive[start..end]);
                state.update(s, p, None).unwrap();
                weighted.update(s, p, Some(&weights[start..end])).unwrap();
                bounded.update(s, p, None).unwrap();
            }
            assert_eq!(state.auc(), auc(&scores, &positive));
            assert_eq!(state.curve(), RocCurve::new(&scores, &positive));
            assert_eq!(state.auc(), auc(&scores, &positive));
            assert_eq!(weighted.auc(), weighted_auc(&scores, &positive, &weights));
            let bound = bounded.auc_error_bound().unwrap();
            let error = (bounded.auc().unwrap() - state.auc().unwrap()).abs();
            assert!(error <= bound && bound < 2e-3, "{error} {bound}");
        });
    }
}

#[test]
fn rows_stay_buffered_if_scores_hardly_repeat() {
    let n = 2 * BUFFER;
    let positive: Vec<bool> = (0..n).map(|row| row % 3 == 0).collect();
    for (n_distinct, waits) in [(n, true), (1000, false)] {
        let scores: Vec<f64> = (0..n).map(|row| (row * 7919 % n_distinct) as f64).collect();
        let mut state = RocState::new(None, 1.0).unwrap();
        for (s, p) in scores.chunks(100_000).zip(positive.chunks(100_000)) {
            state.update(s, p, None).unwrap();
        }
        assert_eq!(with_runs!(&state.table, |runs| runs.len() == 0), waits);
        assert_eq!(state.auc(), auc(&scores, &positive));
        state.update(&scores, &positive, None).unwrap();
        let twice = [scores.clone(), scores].concat();
        assert_eq!(state.auc(), auc(&twice, &positive.repeat(2)));
        assert_eq!(state.size().unwrap(), n_distinct);
    }
}

#[test]
fn files_are_removed_and_their_loss_is_reported() {
    let folder = std::env::temp_dir().join(format!("aucrank-state-{}", std::process::id()));
    let state = || RocState::new(None, None).unwrap();
    assert!(matches!(state().spilling_to(&folder, 1 << 20), Err(RankError::Storage { .. })));
    std::fs::create_dir(&folder).unwrap();
    let n_files = || std::fs::read_dir(&folder).unwrap().count();
    assert!(state().spilling_to(&folder, 1000).is_err());
    assert!(RocState::new(Some(9), None).unwrap().spilling_to(&folder, 1 << 20).is_err());

    let mut spilled = state().spilling_to(&folder, 1 << 20).unwrap();
    let scores: Vec<f64> = (0..100_000).map(f64::from).collect();
    let positive: Vec<bool> = (0..100_000).map(|row| row % 7 == 0).collect();
    spilled.update(&scores, &positive, None).unwrap();
    assert_eq!(spilled.auc(), auc(&scores, &positive));
    assert_eq!(n_files(), usize::from(!cfg!(unix)));
    let mut bounded = RocState::new(Some(9), None).unwrap();
    assert!(bounded.merge(spilled.clone()).is_err());
    // A file that is cut off is an error, not an end.
    spilled.files.as_ref().unwrap().last_file().set_len(1000).unwrap();
    let mut twin = spilled.clone();
    assert!(matches!(twin.auc(), Err(RankError::Storage { .. })));
    drop((spilled, twin));
    assert_eq!(n_files(), 0);
    std::fs::remove_dir(&folder).unwrap();
}

/// A folder that is removed in the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("aucrank-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn spilling(folder: &Folder) -> RocState {
    RocState::new(None, None).unwrap().spilling_to(&folder.0, 1 << 20).unwrap()
}

/// A way to add rows.
type Adding<'a> = &'a dyn Fn(&mut RocState) -> Result<(), RankError>;

#[test]
fn a_state_that_lost_rows_returns_its_error_at_each_later_call() {
    let folder = Folder::new("lost");
    let n = 400_000_u32;
    let scores: Vec<f64> = (0..n).map(|row| f64::from(row * 7919 % n)).collect();
    let positive: Vec<bool> = (0..n).map(|row| row % 3 == 0).collect();
    let lose = |add: Adding<'_>| {
        let folder = Folder::new("gone");
        let mut state = spilling(&folder);
        state.update(&[0.0, 1.0], &[true, false], None).unwrap();
        drop(folder);
        assert!(matches!(add(&mut state), Err(RankError::Storage { .. })));
        state
    };
    let counts = vec![3; scores.len()];
    let mut whole = RocState::new(None, None).unwrap();
    whole.update(&scores, &positive, None).unwrap();
    let ways: [Adding<'_>; 4] = [
        &|state| state.update(&scores, &positive, None),
        &|state| state.update(&scores, &positive, Some(&scores)),
        &|state| state.update_counts(&scores, &positive, &counts),
        &|state| {
            let mut other = spilling(&folder);
            other.update(&scores[..20_000], &positive[..20_000], None)?;
            state.merge(other)?;
            state.update(&scores, &positive, None)
        },
    ];
    for add in ways {
        let mut state = lose(add);
        let is_loss = |found: Result<(), RankError>| {
            let Err(RankError::Storage { message, .. }) = found else { panic!("{found:?}") };
            assert!(message.contains("rows of the state are lost"), "{message}");
        };
        is_loss(state.check_loss());
        is_loss(state.update(&[0.0], &[true], None));
        is_loss(state.update_counts(&[0.0], &[true], &[1]));
        is_loss(state.merge(whole.clone()));
        is_loss(whole.clone().merge(state.clone()));
        is_loss(state.auc().map(|_| ()));
        is_loss(state.size().map(|_| ()));
        is_loss(state.to_bytes().map(|_| ()));
        is_loss(state.frequencies().map(|_| ()));
    }
}

#[test]
fn a_flipped_bit_of_a_file_is_an_error() {
    let folder = Folder::new("flipped");
    let scores: Vec<f64> = (0..60_000).map(|row| f64::from(row * 7919 % 60_000)).collect();
    let positive: Vec<bool> = (0..60_000).map(|row| row % 3 == 0).collect();
    let mut state = spilling(&folder);
    state.update(&scores, &positive, None).unwrap();
    assert_eq!(state.auc(), auc(&scores, &positive));
    let files = state.files.as_mut().unwrap();
    let mut file = files.last_file().try_clone().unwrap();
    let mut sound = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut sound).unwrap();
    let mut rewrite = |bytes: &[u8]| {
        file.set_len(0).unwrap();
        file.rewind().unwrap();
        file.write_all(bytes).unwrap();
    };
    let n_bits = 8 * sound.len();
    for flipped in (0..60).map(|step| (step * n_bits / 60 + step) % n_bits).chain([n_bits - 1]) {
        let mut bytes = sound.clone();
        bytes[flipped / 8] ^= 1 << (flipped % 8);
        rewrite(&bytes);
        assert!(matches!(state.clone().auc(), Err(RankError::Storage { .. })), "bit {flipped}");
        // What was read is not read again, and the file of a copy is that of the state.
        state.files.as_mut().unwrap().forgive();
    }
    // Two frames that have changed their places, and a file that ends with a frame.
    let mut bytes = sound.clone();
    bytes[..2 * FRAME_IN_FILE].rotate_left(FRAME_IN_FILE);
    for bytes in [&bytes[..], &sound[..FRAME_IN_FILE]] {
        rewrite(bytes);
        assert!(matches!(state.clone().auc(), Err(RankError::Storage { .. })));
        state.files.as_mut().unwrap().forgive();
    }
    rewrite(&sound);
    assert_eq!(state.auc(), auc(&scores, &positive));
}

/// Later rows of each are appended to a file of its own.
#[test]
fn a_copy_of_a_state_in_files_is_independent() {
    let folder = Folder::new("copies");
    let scores: Vec<f64> = (0..200_000).map(|row| f64::from(row * 7919 % 200_000)).collect();
    let positive: Vec<bool> = (0..200_000).map(|row| row % 3 == 0).collect();
    let (first, rest) = scores.split_at(80_000);
    let (first_labels, labels) = positive.split_at(80_000);
    let mut state = spilling(&folder);
    state.update(first, first_labels, None).unwrap();
    let mut copy = state.clone();
    for (rest, labels) in rest.chunks(10_000).zip(labels.chunks(10_000)) {
        state.update(rest, labels, None).unwrap();
        let negated: Vec<f64> = rest.iter().map(|score| -score).collect();
        copy.update(&negated, labels, None).unwrap();
    }
    let negated: Vec<f64> = rest.iter().map(|score| -score).collect();
    assert_eq!(state.auc(), auc(&scores, &positive));
    assert_eq!(copy.auc(), auc(&[first, &negated].concat(), &positive));
    copy.update(first, first_labels, None).unwrap();
    assert_eq!(state.auc(), auc(&scores, &positive));
    let (scores, positive) = ([first, &negated, first], [first_labels, labels, first_labels]);
    assert_eq!(copy.auc(), auc(&scores.concat(), &positive.concat()));
}

#[cfg(unix)]
#[test]
fn files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new("owner");
    let mut state = spilling(&folder);
    let positive: Vec<bool> = (0..60_000).map(|row| row % 3 == 0).collect();
    let scores: Vec<f64> = (0..60_000).map(f64::from).collect();
    state.update(&scores, &positive, None).unwrap();
    state.auc().unwrap();
    let metadata = state.files.as_ref().unwrap().last_file().metadata().unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_error_leaves_the_state_as_it_was() {
    let mut state = RocState::new(None, None).unwrap();
    let two = [false, true];
    assert_eq!(state.auc(), Err(RankError::OneClass { n_pos: 0, n_neg: 0 }));
    state.update(&[0.0, 1.0], &two, None).unwrap();
    assert_eq!(state.variance(), Err(RankError::NoVariance { n_pos: 1, n_neg: 1 }));
    let before = state.to_bytes().unwrap();
    assert_eq!(state.update(&[0.0, f64::NAN], &two, None), Err(RankError::NanScore(1)));
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(state.update(&[0.0, 1.0], &two, Some(&[1.0, bad])).is_err(), "{bad}");
    }
    assert!(state.update(&[0.0], &two, None).is_err());
    assert!(state.update(&[0.0, 1.0], &two, Some(&[1.0])).is_err());
    assert_eq!(state.to_bytes().unwrap(), before);
    let mut counted = RocState::new(None, 1.0).unwrap();
    counted.update(&[0.0, 1.0], &two, None).unwrap();
    let before = counted.to_bytes().unwrap();
    for bad in [0.5, 1e300, 2_f64.powi(53)] {
        assert!(counted.update(&[0.0, 1.0], &two, Some(&[1.0, bad])).is_err(), "{bad}");
    }
    let finer = RocState::new(None, 0.5).unwrap();
    assert!(counted.merge(finer).is_err());
    assert_eq!(counted.to_bytes().unwrap(), before);
    for unit in [0.0, 2.0, 0.3, -1.0, f64::NAN, f64::INFINITY] {
        assert!(RocState::new(None, unit).is_err(), "{unit}");
    }
    assert!(RocState::new(Some(1), 1.0).is_err());
}

#[test]
fn newer_and_unknown_formats_are_named() {
    let message = |bytes: &[u8]| RocState::from_bytes(bytes).unwrap_err().to_string();
    assert!(message(b"").contains("do not begin"));
    assert!(message(b"PK\x03\x04 and more").contains("do not begin"));
    assert!(message(b"AUCRANKS").contains("cut short"));
    assert!(message(b"AUCRANKS\x07\0\0\0").contains("format version 7"));
}

/// A class whose weights differ widely has knots that differ in their counts and not in their
/// rates, which are rounded.
#[test]
fn a_band_that_the_curve_enters_at_a_rate_of_several_knots_has_the_same_area() {
    let scores = [5.0, 4.0, 4.0, 3.0, 2.0, 2.0, 1.5, 1.0, 0.0];
    let positive = [false, false, true, true, false, true, false, false, true];
    let weights = [1.0, 5e-17, 1.0, 0.3, 5e-17, 0.01, 1e-3, 1e-3, 1e-3];
    let mut memory = RocState::new(None, None).unwrap();
    memory.update(&scores, &positive, Some(&weights)).unwrap();
    let curve = memory.curve().unwrap();
    let rates = curve.fpr();
    assert!(rates[1] == rates[2] && rates[2] == rates[4], "{rates:?}");
    for tpr in [[0.2, 1.0], [0.0, 0.2], [0.8, 0.9], [0.5, 0.9999]] {
        let expected = curve.partial_auc([0.0, 1.0], tpr, false).unwrap();
        assert_eq!(memory.partial_auc([0.0, 1.0], tpr, false), Ok(expected));
        // By the definition with exact knots: knots of one rate differ by less than 1e-16.
        let width = 1.0 - rates[1];
        assert!((expected - (tpr[1] - tpr[0]) * width).abs() < 1e-5, "{expected}");
    }
}
