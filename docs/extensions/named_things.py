"""Public names in guides are links: what stands there as code, and is one, leads to its page."""

from importlib import import_module

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms.post_transforms import SphinxPostTransform

_ROOMS = ("tree", "boosting", "additive", "ramp", "ensemble", "metrics", "roc", "inspection")


def _targets():
    """Return where each public name is described."""
    found = {}
    for room in _ROOMS:
        module = f"aucrank.{room}"
        for name in import_module(module).__all__:
            found[name] = f"{module}.{name}"
    return found


def _is_within(node, *kinds):
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


class Links(SphinxPostTransform):
    """Turns code that is a public name into a link."""

    # Before links are resolved, and after titles have been copied to where pages are listed.
    default_priority = 5
    targets = _targets()

    def run(self, **_):
        """Look at all code of a guide."""
        if self.env.doc2path(self.env.docname).suffix != ".md":
            return
        for node in list(self.document.findall(nodes.literal)):
            name = node.astext()
            target = self.targets.get(name.removesuffix("()"))
            if target is None or _is_within(node, nodes.reference, nodes.title, pending_xref):
                continue
            where = {"refdomain": "py", "reftype": "obj", "refdoc": self.env.docname}
            link = pending_xref("", reftarget=target, refexplicit=True, **where)
            node.replace_self(link)
            link += node


def setup(app):
    """Let Sphinx know of it."""
    app.add_post_transform(Links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
