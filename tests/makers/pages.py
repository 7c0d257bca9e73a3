"""Pages of HTML as tests read them."""

import json
from html.parser import HTMLParser


class Page(HTMLParser):
    """The tags, attributes, texts, own scripts and embedded data of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text, self.scripts = [], [], [], []
        self.feed(html)

    @property
    def words(self):
        """All texts, with one space between words."""
        return " ".join(" ".join(self.text).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        if self.cdata_elem != "script":
            self.text.append(data.strip())
        elif self.get_starttag_text() == "<script>":
            self.scripts.append(data)
        else:
            self.data = json.loads(data)
