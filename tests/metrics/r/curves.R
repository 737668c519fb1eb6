# What the tests of two curves, points and smoothed curves expect, by pROC and stats on aSAH.
#
#     Rscript tests/metrics/r/curves.R docs/data/asah.csv > tests/metrics/r/curves.json
suppressMessages(library(pROC))
asah <- read.csv(commandArgs(TRUE)[1])
y <- as.integer(asah$outcome == "Poor")
# Scores without ties, which pROC breaks by the order of the rows.
n <- length(y)
first <- asah$s100b + 1e-6 * seq_len(n)
second <- asah$ndka + 1e-4 * seq_len(n)
options(pROCProgress = list(name = "none"))
curve <- function(rows, score) roc(y[rows], score[rows], quiet = TRUE, direction = "<")
all <- seq_len(n)
set.seed(1)
paired <- roc.test(curve(all, first), curve(all, second), method = "venkatraman", boot.n = 4000)
# Two samples of one size, whose shares of positive rows pROC adds up right.
odd <- seq(1, n - 1, 2)
even <- seq(2, n, 2)
apart <- roc.test(curve(odd, first), curve(even, second), method = "venkatraman",
  paired = FALSE, boot.n = 4000)
sensitivity <- roc.test(curve(all, first), curve(all, second), method = "specificity",
  specificity = 0.8, boot.n = 4000)
specificity <- roc.test(curve(all, first), curve(all, second), method = "sensitivity",
  sensitivity = 0.7, boot.n = 4000)
apart_at <- roc.test(curve(odd, first), curve(even, second), method = "specificity",
  specificity = 0.8, paired = FALSE, boot.n = 4000)
at <- function(score) c(
  coords(curve(all, score), 0.8, input = "specificity", ret = "sensitivity", transpose = TRUE),
  coords(curve(all, score), 0.7, input = "sensitivity", ret = "specificity", transpose = TRUE))
called <- list(asah$s100b >= 0.2, asah$ndka >= 12)
mcnemar <- function(rows) c(
  mcnemar.test(table(called[[1]][rows], called[[2]][rows]), correct = FALSE)$p.value,
  {
    only <- c(sum(called[[1]][rows] & !called[[2]][rows]), sum(!called[[1]][rows] & called[[2]][rows]))
    binom.test(only[1], sum(only))$p.value
  })
binormal <- smooth(curve(all, asah$s100b), method = "binormal", n = 100001)
density <- smooth(curve(all, asah$ndka), method = "density", n = 8192)
grid <- c(0.05, 0.2, 0.5, 0.8)
of_smooth <- function(found) c(as.numeric(auc(found)),
  coords(found, 1 - grid, input = "specificity", ret = "sensitivity", transpose = TRUE))
areas <- rbind(
  c(0.763, 0.768, 0.771, 0.798), c(0.599, 0.591, 0.590, 0.569), c(0.954, 0.971, 0.968, 0.967),
  c(0.628, 0.661, 0.654, 0.657), c(0.882, 0.888, 0.886, 0.898), c(0.936, 0.931, 0.916, 0.931),
  c(0.661, 0.668, 0.609, 0.685), c(0.583, 0.583, 0.563, 0.625), c(0.775, 0.838, 0.866, 0.875),
  c(1.000, 1.000, 1.000, 1.000), c(0.940, 0.962, 0.965, 0.962), c(0.619, 0.666, 0.614, 0.669),
  c(0.972, 0.981, 0.9751, 0.975), c(0.957, 0.978, 0.946, 0.970))
friedman <- friedman.test(areas)
pair <- function(a, b) suppressWarnings(
  wilcox.test(areas[, a], areas[, b], paired = TRUE, exact = FALSE, correct = FALSE)$p.value)
of_pairs <- c(pair(1, 2), pair(1, 3), pair(1, 4), pair(2, 3), pair(2, 4), pair(3, 4))
show <- function(x) paste0("[", paste(sprintf("%.15g", as.numeric(x)), collapse = ", "), "]")
found <- list(
  venkatraman_paired = c(paired$statistic, paired$p.value),
  venkatraman_apart = c(apart$statistic, apart$p.value),
  at_first = at(first),
  at_second = at(second),
  sensitivity = c(sensitivity$statistic, sensitivity$p.value),
  specificity = c(specificity$statistic, specificity$p.value),
  sensitivity_apart = c(apart_at$statistic, apart_at$p.value),
  mcnemar_of_positives = mcnemar(y == 1),
  mcnemar_of_negatives = mcnemar(y == 0),
  binormal = of_smooth(binormal),
  binormal_line = binormal$model$coefficients,
  density = of_smooth(density),
  friedman = c(friedman$statistic, friedman$p.value),
  mean_ranks = colMeans(t(apply(-areas, 1, rank))),
  wilcoxon = of_pairs,
  holm = p.adjust(of_pairs, "holm")
)
lines <- sprintf('  "%s": %s', names(found), sapply(found, show))
cat("{\n", paste(lines, collapse = ",\n"), "\n}\n", sep = "")
