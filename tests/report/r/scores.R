# What the tests of a report on scores expect, by pROC and rms on aSAH; net benefit by its definition,
# as dcurves has it.
#
#     Rscript tests/report/r/scores.R docs/data/asah.csv > tests/report/r/scores.json
suppressMessages({library(pROC); library(rms)})
asah <- read.csv(commandArgs(TRUE)[1])
y <- as.integer(asah$outcome == "Poor")
p <- plogis(-2 + 4 * asah$s100b)
scores <- list(risk = p, wfns = asah$wfns, ndka = asah$ndka)
curves <- lapply(scores, function(score) roc(y, score, quiet = TRUE, direction = "<"))
auc <- sapply(curves, function(curve) as.numeric(curve$auc))
error <- sapply(curves, function(curve) sqrt(var(curve)))
partial <- sapply(scores, function(score) as.numeric(auc(roc(y, score, quiet = TRUE,
  direction = "<"), partial.auc = c(1, 0.9), partial.auc.correct = TRUE)))
ks <- sapply(curves, function(curve) max(curve$sensitivities + curve$specificities - 1))
pairs <- list(c(1, 2), c(1, 3), c(2, 3))
tests <- sapply(pairs, function(pair)
  roc.test(curves[[pair[1]]], curves[[pair[2]]], method = "delong")$statistic)
found <- val.prob(p, y, pl = FALSE)
in_large <- coef(glm(y ~ 1, offset = qlogis(p), family = binomial, control = list(epsilon = 1e-14)))
thresholds <- c(0.05, 0.1, 0.2, 0.5)
benefit <- sapply(thresholds, function(at)
  mean(p >= at & y == 1) - mean(p >= at & y == 0) * at / (1 - at))
of_all <- mean(y) - mean(1 - y) * thresholds / (1 - thresholds)
show <- function(x) paste0("[", paste(sprintf("%.15g", x), collapse = ", "), "]")
wanted <- list(
  auc = auc,
  standard_error = error,
  partial = partial,
  ks = ks,
  z = tests,
  val_prob = c(found["Dxy"], found["C (ROC)"], found["Brier"], found["Slope"]),
  in_large = in_large,
  net_benefit = benefit,
  net_benefit_of_all = of_all
)
lines <- sprintf('  "%s": %s', names(wanted), sapply(wanted, show))
cat("{\n", paste(lines, collapse = ",\n"), "\n}\n", sep = "")
