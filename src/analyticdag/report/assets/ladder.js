// Graphs at other prices of a link, each found by a search of its own: the slider walks through them.
// What the page draws already is shown or hidden; links that only they have are added as broken lines.

const ladder = data.ladder; // from few links to many; empty where there was no search
const keyOf = (s, t, open) => (open ? Math.min(s, t) + '-' + Math.max(s, t) : s + '>' + t);
ladder.forEach((rung) => { rung.keys = new Set(rung.edges.map((edge) => keyOf(...edge))); });
const ownRung = ladder.findIndex((rung) => rung.own);

const extras = [];
const drawnKeys = new Set(edges.map((edge) => keyOf(edge.s, edge.t, edge.open)));
ladder.forEach((rung) => rung.edges.forEach(([s, t, open]) => {
  const key = keyOf(s, t, open);
  if (drawnKeys.has(key)) return;
  drawnKeys.add(key);
  extras.push({ s, t, open: Boolean(open), key });
}));

function rungNow() {
  return ladder.length && state.rung !== ownRung ? ladder[state.rung] : null;
}

function onRung(edge) {
  const rung = rungNow();
  return !rung || rung.keys.has(keyOf(edge.s, edge.t, edge.open));
}

function drawExtras() {
  const shape = (name) => document.createElementNS('http://www.w3.org/2000/svg', name);
  extras.forEach((edge) => {
    edge.group = shape('g');
    edge.group.setAttribute('class', 'edge extra gone' + (edge.open ? ' open' : ''));
    edge.line = shape('path');
    edge.line.setAttribute('class', 'line');
    edge.head = shape('path');
    edge.head.setAttribute('class', 'head');
    edge.group.append(edge.line, edge.head);
  });
  document.getElementById('edges').append(...extras.map((edge) => edge.group));
  moveExtras();
}

function moveExtras() {
  extras.forEach((edge) => {
    const a = nodes[edge.s];
    const b = nodes[edge.t];
    const down = b.y >= a.y ? 1 : -1;
    const points = [[a.x, a.y + down * a.h / 2], [b.x, b.y - down * (b.h / 2 + 1)]];
    edge.line.setAttribute('d', curvePath(points, edge.open ? 0 : HEAD));
    edge.head.setAttribute('d', headPath(points));
  });
}

function paintExtras() {
  const rung = rungNow();
  extras.forEach((edge) => {
    const seen = shown.nodes.has(edge.s) && shown.nodes.has(edge.t);
    toggle(edge.group, 'gone', !(rung && seen && rung.keys.has(edge.key)));
    toggle(edge.group, 'faded', state.selected !== null && edge.s !== state.selected && edge.t !== state.selected);
  });
}

function rungText() {
  if (!ladder.length) return '';
  const rung = ladder[state.rung];
  return '|r| ≥ ' + number(rung.effect, 2) + ' · ' + count(rung.edges.length, 'link', 'links')
    + (rung.own ? ' · this result' : '');
}
