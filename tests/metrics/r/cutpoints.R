# What the tests of thresholds expect, by cutpointr on aSAH: threshold, sensitivity, specificity.
#
#     Rscript tests/metrics/r/cutpoints.R docs/data/asah.csv > tests/metrics/r/cutpoints.json
suppressMessages(library(cutpointr))
asah <- read.csv(commandArgs(TRUE)[1])
best <- function(marker, ...) {
  found <- cutpointr(x = asah[[marker]], class = asah$outcome, pos_class = "Poor",
    direction = ">=", ...)
  c(found$optimal_cutpoint, found$sensitivity, found$specificity)
}
criteria <- list(
  youden = function(marker) best(marker, method = maximize_metric, metric = youden),
  closest_topleft = function(marker) best(marker, method = minimize_metric, metric = roc01),
  cost = function(marker) best(marker, method = minimize_metric,
    metric = misclassification_cost, cost_fp = 1, cost_fn = 3),
  equal = function(marker) best(marker, method = minimize_metric, metric = abs_d_sens_spec)
)
show <- function(x) paste0("[", paste(sprintf("%.15g", x), collapse = ", "), "]")
lines <- c()
for (marker in c("s100b", "ndka")) for (name in names(criteria)) {
  found <- suppressMessages(criteria[[name]](marker))
  lines <- c(lines, sprintf('  "%s of %s": %s', name, marker, show(found)))
}
cat("{\n", paste(lines, collapse = ",\n"), "\n}\n", sep = "")
