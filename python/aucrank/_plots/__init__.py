"""Plots of models and curves with matplotlib."""
