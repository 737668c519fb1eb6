"""Formulas as MathML, which browsers draw by themselves: without a script from the network."""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def _draw_inline(translator, node):
    translator.body.append(convert(node.astext()))
    raise SkipNode


def _draw_block(translator, node):
    translator.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise SkipNode


def setup(app):
    """Let Sphinx know of it."""
    app.add_html_math_renderer("mathml", (_draw_inline, None), (_draw_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
