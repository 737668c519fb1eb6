"""A page of HTML that asks for nothing else: text, tables and pictures, and that of a model."""
