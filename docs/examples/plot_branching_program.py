"""
A branching program, drawn
==========================

``MartiRank`` learns neither a sum nor a tree, but layers of questions. A tumour goes right where it
is called malignant and left where it is called benign; how often it went right ranks it.
"""

# %%
# Three layers
# ------------
# Each node holds the question that ranks best the tumours that come there. All that have as many
# votes for "malignant" so far meet at one node, whichever way they came, so that a layer has one
# node more than the one above, and not twice as many.
from aucrank import MartiRank, SMartiRank
from aucrank.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = MartiRank(n_rounds=3).fit(X_train, y_train)
display = model.program_.plot()

# %%
# A way is as wide as the share of the tumours that took it. A coin sends some of those that fail a
# question to the right after all ("else +"), or some that pass it to the left ("yet -"), so that
# the node errs on both classes at the same rate. Nothing is drawn at random: a tumour walks all of
# its ways at once, by the share of coins that send it there. Hence counts with fractions, and the
# score, which is the mean number of votes.
(model.decision_function(X_test)[:5] + model.threshold_).round(3)

# %%
# As text
# -------
print(model.program_.to_text())

# %%
# As a table
# ----------
# ``p_pos`` and ``p_neg`` are the error rates of a question by itself, ``zeta`` is the chance of the
# coin, and ``error`` what both classes then have in common.
nodes = model.program_.nodes.to_frame()
nodes[["layer", "index", "rule", "share", "p_pos", "p_neg", "zeta", "error"]].head(6).round(3)

# %%
# Nodes that few rows reach
# -------------------------
# More layers have more questions, and those at the rim see hardly any tumour of one class. What
# they learn there is chance. ``SMartiRank`` ends the ways instead: square nodes are frozen, and a
# tumour that ends in one gets all votes that are left for the class of its sign. Small dots are
# nodes that no tumour reaches. ``min_samples_class=0`` leaves it to ``epsilon`` to say how few are
# too few.
frozen = SMartiRank(n_rounds=8, min_samples_class=0).fit(X_train, y_train)
display = frozen.program_.plot()

# %%
# How many layers?
# ----------------
# A sum of as many terms as a program has questions often ranks better, and is simpler to explain:
# see :ref:`sphx_glr_auto_examples_plot_rank_boost.py`. Programs are for
# :ref:`labels that are wrong <sphx_glr_auto_examples_plot_label_noise.py>`.
for n_rounds in (1, 2, 4, 8, 16):
    auc = MartiRank(n_rounds=n_rounds).fit(X_train, y_train).score(X_test, y_test)
    print(f"{n_rounds:2} layers, {n_rounds * (n_rounds + 1) // 2:3} questions: test AUC {auc:.3f}")
