# What the tests of calibration and of several curves expect, by pROC, rms and sandwich on aSAH.
#
#     Rscript tests/metrics/r/reviewers.R docs/data/asah.csv > tests/metrics/r/reviewers.json
suppressMessages({library(pROC); library(rms); library(sandwich)})
asah <- read.csv(commandArgs(TRUE)[1])
n <- nrow(asah)
y <- as.integer(asah$outcome == "Poor")
p <- plogis(-2 + 4 * asah$s100b)
lp <- qlogis(p)
patient <- (seq_len(n) - 1) %/% 3
se <- function(fit, ...) sqrt(diag(vcovCL(fit, type = "HC0", cadjust = TRUE, ...)))
in_large <- glm(y ~ 1, offset = lp, family = binomial, control = list(epsilon = 1e-14))
line <- glm(y ~ lp, family = binomial, control = list(epsilon = 1e-14))
wanted <- c(0.05, 0.275, 0.5, 0.725, 0.95)
knots <- quantile(lp, wanted, type = 1)
spline <- rcspline.eval(lp, knots = knots, inclx = TRUE)
smooth <- glm(y ~ spline, family = binomial, control = list(epsilon = 1e-14))
smoothed <- fitted(smooth)
gap <- abs(smoothed - p)
isotonic <- isoreg(p, y)$yf
brier <- mean((p - y)^2)
fitted_brier <- mean((isotonic - y[order(p)])^2)
curves <- lapply(c("wfns", "s100b", "ndka"), function(name)
  roc(y, asah[[name]], quiet = TRUE, direction = "<"))
covariance <- outer(1:3, 1:3, Vectorize(function(i, j) cov(curves[[i]], curves[[j]])))
auc <- sapply(curves, function(curve) as.numeric(curve$auc))
contrast <- rbind(c(1, -1, 0), c(1, 0, -1))
statistic <- c(t(contrast %*% auc) %*% solve(contrast %*% covariance %*% t(contrast)) %*%
  (contrast %*% auc))
one_sided <- roc.test(curves[[1]], curves[[2]], method = "delong", alternative = "greater")
show <- function(x) paste0("[", paste(sprintf("%.15g", x), collapse = ", "), "]")
found <- list(
  intercept = c(coef(in_large), se(in_large)),
  intercept_of_groups = c(coef(in_large), se(in_large, cluster = patient)),
  slope = c(coef(line)[2], se(line)[2]),
  slope_of_groups = c(coef(line)[2], se(line, cluster = patient)[2]),
  smoothed = smoothed,
  ici = mean(gap),
  brier = c(brier, brier - fitted_brier, mean(y) * (1 - mean(y)) - fitted_brier),
  covariance = covariance,
  chi_square = c(statistic, pchisq(statistic, 2, lower.tail = FALSE)),
  greater = c(one_sided$statistic, one_sided$p.value)
)
lines <- sprintf('  "%s": %s', names(found), sapply(found, show))
cat("{\n", paste(lines, collapse = ",\n"), "\n}\n", sep = "")
