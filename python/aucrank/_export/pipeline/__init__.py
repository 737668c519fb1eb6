"""Preprocessing of scikit-learn, folded into the formula of the ranker that follows it."""
