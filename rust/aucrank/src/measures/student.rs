//! Student's t and the normal law, as t with infinite degrees of freedom.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Degrees of freedom of the normal law.
pub(super) const NORMAL: f64 = f64::INFINITY;

/// From so many degrees of freedom on, the relative error of [`normal_tail`] is below 1e-13.
const MANY: f64 = 1000.0;

const MOST_STEPS: usize = 10_000;

/// Chance of exceeding `t`.
pub(super) fn chance_above(t: f64, degrees: f64) -> f64 {
    if degrees.is_infinite() {
        return 0.5 * libm::erfc(t * FRAC_1_SQRT_2);
    }
    let tail = if degrees >= MANY { normal_tail(t, degrees) } else { beta_tail(t * t, degrees) };
    if t >= 0.0 { tail } else { 1.0 - tail }
}

/// The value that is exceeded with chance `tail`, which is below 1/2.
pub(super) fn quantile_above(tail: f64, degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while chance_above(high, degrees) > tail {
        (low, high) = (high, 2.0 * high);
    }
    // Bisection, since Newton's method overshoots where tails are heavy; to neighbouring numbers.
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if chance_above(middle, degrees) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// Chance of exceeding the root of `square`: half of the incomplete beta function `I(x; a, 1/2)` with
/// `a` half of the degrees and `x = degrees / (degrees + square)`.
fn beta_tail(square: f64, degrees: f64) -> f64 {
    let a = 0.5 * degrees;
    let (x, rest) = (degrees / (degrees + square), square / (degrees + square));
    // x^a (1 - x)^(1/2) / B(a, 1/2); `x` may be near 1.
    let log_ratio = libm::lgamma(a + 0.5) - libm::lgamma(a) - a * libm::log1p(square / degrees);
    let front = libm::exp(log_ratio) * (rest / PI).sqrt();
    if x < (a + 1.0) / (a + 2.5) {
        0.5 * front * continued_fraction(a, 0.5, x) / a
    } else {
        0.5 - front * continued_fraction(0.5, a, rest)
    }
}

/// The same for many degrees of freedom, by the normal deviate with equal chance (Hill, "Algorithm
/// 395: Student's t-distribution", 1970, doi:10.1145/355598.362775).
fn normal_tail(t: f64, degrees: f64) -> f64 {
    let a = degrees - 0.5;
    let b = 48.0 * a * a;
    let y = a * libm::log1p(t * t / degrees);
    let last = (((-0.4 * y - 3.3) * y - 24.0) * y - 85.5) / (0.8 * y * y + 100.0 + b);
    chance_above(((last + y + 3.0) / b + 1.0) * y.sqrt(), NORMAL)
}

/// The continued fraction of the incomplete beta function, by Lentz's method (Press et al.,
/// "Numerical recipes", 3rd edition, section 6.4).
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    let away = |value: f64| if value.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { value };
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let (mut c, mut found) = (1.0, d);
    for step in 1..MOST_STEPS {
        let m = step as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut last = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            last = c * d;
            found *= last;
        }
        if (last - 1.0).abs() < 4.0 * f64::EPSILON {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_those_of_tables() {
        // Quantiles of SciPy: stdtrit(df, 0.975).
        for (t, degrees, chance) in [
            (1.0, 1.0, 0.25),
            (-1.0, 1.0, 0.75),
            (0.0, 7.0, 0.5),
            (12.706_204_736_174_698, 1.0, 0.025),
            (2.228_138_851_986_274, 10.0, 0.025),
            (1.983_971_518_523_551_8, 100.0, 0.025),
            (1.959_963_984_540_054_5, NORMAL, 0.025),
        ] {
            let found = chance_above(t, degrees);
            assert!((found / chance - 1.0).abs() < 1e-12, "{t} {degrees}: {found}");
        }
        // Of two degrees of freedom, in closed form.
        for t in [0.1, 1.0, 5.0, 50.0] {
            let expected = 0.5 - 0.5 * t / f64::sqrt(2.0 + t * t);
            assert!((chance_above(t, 2.0) - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn quantiles_have_their_chance() {
        for degrees in [1.0, 2.5, 9.0, 60.0, 999.0, 1000.0, 5e6, NORMAL] {
            for tail in [0.4, 0.05, 0.025, 1e-4] {
                let found = chance_above(quantile_above(tail, degrees), degrees);
                assert!((found / tail - 1.0).abs() < 1e-9, "{degrees} {tail}: {found}");
            }
        }
    }

    #[test]
    fn both_forms_agree_where_they_meet() {
        for t in [0.3, 1.0, 2.0, 4.0, 7.0] {
            let (normal, beta) = (normal_tail(t, MANY), beta_tail(t * t, MANY));
            assert!((normal / beta - 1.0).abs() < 1e-10, "{t}: {normal} {beta}");
        }
    }

    #[test]
    fn many_degrees_of_freedom_are_the_normal_law() {
        let gap = quantile_above(0.025, 1e6) - quantile_above(0.025, NORMAL);
        // (z^3 + z) / (4 df), the first term of the expansion of Cornish and Fisher.
        assert!((gap * 1e6 - 2.3723).abs() < 1e-4, "{gap}");
    }
}
