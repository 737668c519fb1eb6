"""Self-contained HTML pages of text, tables and pictures, and the page of a model."""
