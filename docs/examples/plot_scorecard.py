"""
A scorecard, from loans to the database
=======================================

Which loans are paid back? A scorecard answers with whole points that a clerk can add up. Here is
one from its data to its use: fitted, read, printed, explained to a client, run in a database, and
watched after the clients have changed.
"""

# %%
# Loans
# -----
# They are made up: 6,000 loans with what a bank would know of them. Some clients do not tell their
# income, and they pay back less often. ``arrears`` are the months since the client was last in
# arrears, and -1 means "never", which is no small number of months but the best news of all.
import sqlite3

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from aucrank import Scorecard
from aucrank.metrics import auc_interval
from sklearn.model_selection import train_test_split


def make_loans(n, rng, *, income_factor=1.0, fixed_term=0.15):
    """Draw loans, and whether they are paid back."""
    others = (1 - fixed_term) * np.array([0.65, 0.2, 0.15])
    jobs = ["permanent", "self-employed", "none", "fixed-term"]
    job = rng.choice(jobs, n, p=[*others, fixed_term])
    age = rng.integers(18, 75, n)
    in_arrears = rng.random(n) < 0.3
    arrears = np.where(in_arrears, rng.integers(0, 60, n), -1)
    income = income_factor * rng.lognormal(7.7, 0.45, n)
    silent = rng.random(n) < 0.12
    months = rng.choice([12, 24, 36, 48, 60], n)
    log_odds = (
        1.6
        + 1.6 * (np.log(income) - 7.7)
        + 0.9 * np.tanh((age - 35) / 12)
        - np.where(in_arrears, 1.8 * np.exp(-arrears / 18), -0.4)
        - pd.Series(job).map(dict(zip(jobs, [-0.4, 0.1, 1.3, 0.5], strict=True))).to_numpy()
        - 0.02 * (months - 36)
        - 0.8 * silent
    )
    repaid = rng.random(n) < 1 / (1 + np.exp(-log_odds))
    loans = pd.DataFrame(
        {
            "income": np.where(silent, np.nan, income.round(-1)),
            "age": age,
            "job": pd.Categorical(job),
            "arrears": arrears,
            "months": months,
        }
    )
    return loans, np.where(repaid, "repaid", "default")


rng = np.random.default_rng(0)
loans, outcome = make_loans(6000, rng)
X, X_test, y, y_test = train_test_split(loans, outcome, random_state=0)
X.head().assign(outcome=y[:5])

# %%
# The card
# --------
# The points are those of a boosted sum of one function for each column; incomes not stated and
# "never in arrears" have bins of their own. 600 points shall stand for odds of 10 loans repaid
# to one in default, and 20 more shall double them. A bin shall hold a twentieth of the loans, so
# that its points are those of many.
#
# The class with many points is the positive one, the second of the sorted labels: "repaid". With a
# column that is 1 for a default, ``high_points="negative"`` would say the same.
card = Scorecard(
    base_points=600,
    base_odds=10,
    pdo=20,
    min_bin_share=0.05,
    special_values={"arrears": [-1]},
).fit(X, y)
print(card.to_text())

# %%
# As a table, for a notebook; ``to_html`` makes a page to print, ``to_csv`` a sheet for Excel.
card.card()

# %%
# Does it rank, and is it true?
# -----------------------------
# On loans that the card has not seen: the AUC with its interval, and in bands of points the share
# repaid next to what the card says.
found = auc_interval(y_test, card.decision_function(X_test))
print(f"AUC {found.auc:.3f}, 95 % interval from {found.low:.3f} to {found.high:.3f}")
print(f"lost by joining bins {card.merging_loss_:.4f}, by rounding {card.rounding_loss_:.4f}")

points = card.points(X_test)
said = card.predict_proba(X_test)[:, 1]
test = pd.DataFrame({"points": points, "said": said, "repaid": y_test == "repaid"})
bands = test.groupby(pd.qcut(test["points"], 10)).mean()
loans_in = test.groupby(pd.qcut(test["points"], 10)).size()

figure, ax = plt.subplots(figsize=(6.8, 3.8), layout="constrained")
line = np.arange(points.min(), points.max() + 1)
ax.plot(line, card.probability_at(line), color="0.4", label="what the points stand for")
error = 1.96 * np.sqrt(bands["repaid"] * (1 - bands["repaid"]) / loans_in)
ax.errorbar(bands["points"], bands["repaid"], error, fmt="o", color="C0", label="new loans")
ax.set(xlabel="points", ylabel="share repaid", ylim=(0, 1))
legend = ax.legend(loc="lower right")

# %%
# Where to say no
# ---------------
# The bands of the training loans, to choose a cut-off by: who refuses all up to the ``high`` of a
# line refuses the share ``size_up_to`` of all clients, ``neg_up_to`` of the defaults, and
# ``pos_up_to`` of those who would have repaid.
columns = ["low", "high", "size", "rate", "expected_rate", "size_up_to", "neg_up_to", "pos_up_to"]
card.score_table().to_frame()[columns].round(3)

# %%
# Why was I refused?
# ------------------
# Who refuses a loan has to say why. ``reason_codes`` names the columns that cost a client most
# points, against the best bin of each; ``reasons`` gives the words of a letter.
reasons = {
    "income": "Income is low or not stated",
    "age": "Age",
    "job": "Kind of employment",
    "arrears": "Recent arrears",
    "months": "The loan runs for long",
}
refused = X_test[points < 540].head(6)
codes, lost = card.reason_codes(refused, 3, reasons=reasons, return_points=True)
for client, total, texts, costs in zip(
    refused.index, card.points(refused), codes, lost, strict=True
):
    parts = [f"{text} (-{cost:.0f})" for text, cost in zip(texts, costs, strict=True) if text]
    print(f"client {client}: {total} points. {'; '.join(parts)}")

# %%
# In a database
# -------------
# The card as an expression for a ``SELECT``:
print(card.to_sql())

# %%
# Run by sqlite, it gives the points that Python gives. ``to_pmml`` writes the card for a decision
# engine, ``to_json`` for programs of your own.
with sqlite3.connect(":memory:") as database:
    X_test.assign(job=X_test["job"].astype(str)).to_sql("loans", database, index=False)
    of_sql = [row[0] for row in database.execute(f"SELECT {card.to_sql()} FROM loans")]
print("the same points:", of_sql == points.tolist())

# %%
# A year later
# ------------
# Wages have risen by a fifth, and many more clients have a fixed-term contract. Which columns have
# moved, and does it matter? The population stability index compares the shares of the bins then
# and now: by custom, 0.1 is worth watching and 0.25 is a shift.
new, outcome = make_loans(1500, rng, income_factor=1.2, fixed_term=0.4)
report = card.drift(new)
report

# %%
# The total and the three columns that moved most. What ``points_shift`` says above and the bars
# show here: the incomes gain points, the contracts lose some, and the total has hardly moved.
display = report.plot(3)

# %%
# Outcomes become known only later. With them the report shows whether the card still ranks, and
# whether it still counts right: ``observed`` next to ``expected``. ``auc_then`` is of the loans
# that the card was made from, and so too high; the loans set aside above are the fairer measure.
known = card.drift(new, outcome)
known

# %%
# Chance alone moves the shares of a few rows. The loans set aside are of the very population that
# the card was made for. Of all 1,500 the index is near 0, of 60 it is not, and the report says that
# this proves nothing:
for some in (X_test, X_test[60:120]):
    by_chance = card.drift(some)
    print(
        f"{by_chance.n_rows} loans: PSI {by_chance.score_psi:.3f}, {by_chance.score_verdict};"
        f" as much by chance alone with probability {by_chance.score_p_value:.2f}"
    )
