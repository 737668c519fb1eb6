"""A page of HTML, parsed."""

from html.parser import HTMLParser

VOID = {"meta", "br", "img", "line", "rect", "path", "circle", "input", "link"}


class Page(HTMLParser):
    """Elements in order, each with its attributes, ancestors and own text; checks the nesting."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "text": "", "within": [e["tag"] for e in self.open]}
        element["attributes"] = dict(attributes)
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, *tags):
        return [element for element in self.elements if element["tag"] in tags]
