"""A page on which the points of one row are added up, without a network."""

from html import escape

from aucrank._page.page import content_policy
from aucrank._utils.plain_text import shown
from aucrank.additive._scorecard.card import Card
from aucrank.additive._scorecard.sheet import Sheet, percent

_STYLE = """
body { font: 16px/1.4 system-ui, sans-serif; color: #1b1f24; margin: 1.5em auto; max-width: 40em;
  padding: 0 1em 8em; }
h1 { font-size: 1.4em; margin-bottom: 0.2em; }
fieldset { border: 1px solid #c5ccd3; border-radius: 6px; margin: 1em 0; padding: 0.3em 0.8em; }
legend { font-weight: 600; padding: 0 0.3em; }
label { display: flex; gap: 0.7em; align-items: baseline; padding: 0.35em 0.2em; }
label:has(:checked) { background: #e3effb; border-radius: 4px; }
label span { flex: 1; overflow-wrap: anywhere; }
label b { font-variant-numeric: tabular-nums; }
output { position: fixed; left: 0; right: 0; bottom: 0; background: #1b1f24; color: #ffffff;
  padding: 0.8em 1em; text-align: center; font-size: 1.15em; }
button { font: inherit; padding: 0.3em 1em; }
table { border-collapse: collapse; width: 100%; margin: 1em 0; }
th, td { padding: 0.18em 0.6em; text-align: right; font-variant-numeric: tabular-nums; }
thead th { border-bottom: 2px solid #1b1f24; }
tr.here { background: #e3effb; }
p { margin: 0.4em 0; }
@media print { body { font-size: 9.5pt; margin: 0; max-width: none; padding: 0; columns: 2; }
  h1 { column-span: all; } label { padding: 0.1em 0.2em; } th, td { padding: 0.08em 0.4em; }
  fieldset { break-inside: avoid; margin: 0 0 0.7em; } table { margin: 0 0 1em;
  break-before: column; }
  output, button { display: none; } }
""".strip()

# All that depends on the card is in attributes, so that the hash of the script is always the same.
_SCRIPT = """
const form = document.querySelector("form"), out = document.querySelector("output");
function addUp() {
  const blocks = [...form.querySelectorAll("fieldset")];
  const chosen = blocks.map((block) => block.querySelector("input:checked"));
  const open = chosen.filter((input) => input === null).length;
  document.querySelectorAll("tr.here").forEach((row) => row.classList.remove("here"));
  if (open > 0) {
    out.textContent = open === 1 ? "1 question is open" : open + " questions are open";
    return;
  }
  const add = (sum, input) => sum + Number(input.value);
  const total = chosen.reduce(add, Number(form.dataset.initial));
  const logOdds = Number(form.dataset.sign) * (total - Number(form.dataset.offset))
    / Number(form.dataset.factor);
  const chance = 100 / (1 + Math.exp(-logOdds));
  const digits = chance < 10 || chance > 90 ? 1 : 0;
  out.textContent = total + " points: chance of class " + form.dataset.positive + " "
    + chance.toFixed(digits) + "%";
  const row = document.querySelector('tr[data-points="' + total + '"]');
  if (row !== null) { row.classList.add("here"); }
}
form.addEventListener("change", addUp);
form.addEventListener("reset", () => setTimeout(addUp));
addUp();
""".strip()


def to_calculator(sheet: Sheet) -> str:
    """Return a self-contained page on which a person answers each question of a card."""
    card = sheet.card
    positive = escape(sheet.positive)
    out = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{sheet.title}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy(_SCRIPT)}">',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{sheet.title}: many points speak for class {escape(sheet.wanted)}</h1>",
        "<p>Choose one line of each block.</p>",
        f'<form data-initial="{card.initial_points}" data-offset="{card.offset!r}"'
        f' data-factor="{card.factor!r}" data-sign="{card.sign}" data-positive="{positive}">',
    ]
    for number, feature in enumerate(sheet.features):
        out.append(f"<fieldset><legend>{escape(shown(feature.name))}</legend>")
        # Of all lines: what no training row had may be true of a new one.
        out += [
            f'<label><input type="radio" name="q{number}" value="{bin_.points}">'
            f"<span>{escape(label)}</span><b>{bin_.points}</b></label>"
            for label, bin_ in sheet.all_lines(feature)
        ]
        out.append("</fieldset>")
    out += ['<p><button type="reset">Start again</button></p>', "</form>"]
    out.append('<output aria-live="polite"></output>')
    if card.is_counted:
        out += _risks(card, positive)
    out += [
        f"<p>{escape(sheet.quality_in_words)}</p>",
        *(f"<p>{escape(line)}</p>" for line in sheet.edits_in_words),
        f"<script>{_SCRIPT}</script>",
        "</body></html>",
    ]
    return "\n".join(out) + "\n"


def _risks(card: Card, positive: str) -> list[str]:
    """Return the table of totals that training rows have."""
    found = card.distribution
    out = [
        f"<table><thead><tr><th>points</th><th>chance of class {positive}</th><th>rows</th>"
        f"<th>of these class {positive}</th></tr></thead><tbody>"
    ]
    for points, size, pos in zip(
        found.points.tolist(), found.sizes, found.masses[:, 0], strict=True
    ):
        out.append(
            f'<tr data-points="{points}"><td>{points}</td>'
            f"<td>{escape(percent(float(card.probability(points))))}</td>"
            f"<td>{size:,.6g}</td><td>{escape(percent(float(pos / size)))}</td></tr>"
        )
    return [*out, "</tbody></table>"]
