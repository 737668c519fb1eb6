# What the tests of grades expect, by R's stats on aSAH.
#
#     Rscript tests/metrics/r/grades.R docs/data/asah.csv > tests/metrics/r/grades.json
asah <- read.csv(commandArgs(TRUE)[1])
y <- asah$outcome == "Poor"
p <- plogis(-2 + 4 * asah$s100b)
bounds <- c(0.2, 0.3, 0.5)
grade <- findInterval(p, bounds) + 1
size <- as.vector(table(grade))
positives <- as.vector(tapply(y, grade, sum))
expected <- as.vector(tapply(p, grade, mean))
binomial <- mapply(function(d, n, rate) binom.test(d, n, rate, alternative = "greater")$p.value,
  positives, size, expected)
jeffreys <- pbeta(expected, positives + 0.5, size - positives + 0.5)
low <- qbeta(0.025, positives + 0.5, size - positives + 0.5)
high <- qbeta(0.975, positives + 0.5, size - positives + 0.5)
statistic <- sum((positives - size * expected)^2 / (size * expected * (1 - expected)))
show <- function(x) paste0("[", paste(sprintf("%.15g", x), collapse = ", "), "]")
found <- list(
  size = size, positives = positives, expected = expected, p_binomial = binomial,
  p_jeffreys = jeffreys, observed_low = low, observed_high = high,
  hosmer_lemeshow = c(statistic, pchisq(statistic, 4, lower.tail = FALSE)),
  whole = c(pbeta(mean(p), sum(y) + 0.5, sum(!y) + 0.5),
    binom.test(sum(y), length(y), mean(p), alternative = "greater")$p.value)
)
lines <- sprintf('  "%s": %s', names(found), sapply(found, show))
cat("{\n", paste(lines, collapse = ",\n"), "\n}\n", sep = "")
