"""From a comparison to a decision, on tumours of the breast."""

import aucrank
import matplotlib.pyplot as plt
from aucrank import LinearRanker, Scorecard, TreeRank
from aucrank.datasets import load_breast_cancer
from aucrank.metrics import RocCurve, decision_curve, roc_band
from sklearn.model_selection import train_test_split

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean_texture", "mean_smoothness", "mean_symmetry", "mean_area"]]
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
card = Scorecard(min_bin_share=0.1, random_state=0)
models = {"Scorecard": card, "LinearRanker": LinearRanker()}
models["TreeRank"] = TreeRank(min_samples_leaf=15, random_state=0)
board = aucrank.compare(X, y, models=models).to_frame()
card.fit(X, y)

figure, axes = plt.subplots(2, 2, figsize=(7, 6), layout="constrained")
compare, measure, read, decide = axes.ravel()
error = [board["auc"] - board["low"], board["high"] - board["auc"]]
compare.errorbar(board["auc"], range(len(board)), xerr=error, fmt="o", capsize=3)
compare.set_yticks(range(len(board)), board["model"])
compare.invert_yaxis()
compare.set(title="Compare", xlabel="AUC, with its 95 % interval", ylim=(2.5, -0.5))

score = card.decision_function(X_test)
band = roc_band(y_test, score, random_state=0)
RocCurve.from_scores(y_test, score).plot(ax=measure, band=band, name="new rows")
measure.set_title("Measure")
measure.legend(loc="lower right", fontsize=8)

card.plot_terms(["mean_area"], ax=[read])
read.set(title="Read", ylabel="points")

probabilities = {"Scorecard": card.predict_proba(X_test)[:, 1]}
decision_curve(y_test, probabilities).plot(ax=decide)
decide.set(title="Decide", xlim=(0, 0.8))
decide.legend(fontsize=8)
