// Curves, arrow heads and a small layout for neighbourhoods: the same shapes as picture.py draws.

const HEAD = 9;

// Where the edge goes right after its cause, and where it comes from right before its effect.
function towards(edge, side) {
  const bends = bendsOf(edge);
  if (side === 'out') return bends.length ? bends[0] : [nodes[edge.t].x, nodes[edge.t].y];
  return bends.length ? bends[bends.length - 1] : [nodes[edge.s].x, nodes[edge.s].y];
}

function port(node, edge, side, clearance) {
  const other = towards(edge, side);
  const span = Math.max(node.w / 2 - 10, 0);
  const up = other[1] >= node.y ? 1 : -1;
  return [node.x + (span ? shift(node, edge, side, span, other[0]) : 0), node.y + up * (node.h / 2 + clearance)];
}

function shift(node, edge, side, span, x) {
  const size = node[side].length;
  if (size === 1) return Math.min(Math.max((x - node.x) * 0.22, -span), span);
  const place = (other) => towards(other, side)[0];
  const before = (other) => place(other) < x || (place(other) === x && other.index < edge.index);
  const rank = node[side].filter(before).length;
  return (rank - (size - 1) / 2) * Math.min(15, 2 * span / (size - 1));
}

function route(edge) {
  return [port(nodes[edge.s], edge, 'out', 0)].concat(bendsOf(edge), [port(nodes[edge.t], edge, 'in', 1)]);
}

function away(from, to, length) {
  return to - (to >= from ? length : -length);
}

function slope(a, b, c) {
  if ((b[0] - a[0]) * (c[0] - b[0]) <= 0 || c[1] === a[1]) return 0;
  return (c[0] - a[0]) / (c[1] - a[1]);
}

function curvePath(given, head) {
  const points = given.slice();
  const last = points.pop();
  points.push([last[0], away(points[points.length - 1][1], last[1], head * 0.7)]);
  const lean = points.map((point, k) =>
    (k && k < points.length - 1 ? slope(points[k - 1], point, points[k + 1]) : 0));
  const parts = ['M' + points[0].map((value) => value.toFixed(1)).join(',')];
  points.slice(1).forEach(([u, v], k) => {
    const [x, y] = points[k];
    const p = (v - y) / (lean[k] ? 3 : 2);
    const q = (v - y) / (lean[k + 1] ? 3 : 2);
    const numbers = [x + lean[k] * p, y + p, u - lean[k + 1] * q, v - q, u, v];
    parts.push('C' + numbers.map((value) => value.toFixed(1)).join(' '));
  });
  return parts.join(' ');
}

function headPath(points) {
  const [x, y] = points[points.length - 1];
  const back = away(points[points.length - 2][1], y, HEAD);
  const half = HEAD * 0.42;
  return 'M' + x + ',' + y + ' L' + (x - half) + ',' + back + ' L' + (x + half) + ',' + back + ' Z';
}

function labelPlace(points, index) {
  const share = 0.5 + 0.13 * ((index % 3) - 1);
  const ease = share * share * (3 - 2 * share);
  const middle = Math.floor((points.length - 1) / 2);
  const [x, y] = points[middle];
  const [u, v] = points[middle + 1];
  return [x + (u - x) * ease, y + (v - y) * share];
}

function roomFor(node) {
  return data.dots ? node.w + 10 + node.label.length * 7.2 : node.w;
}

// Layers by longest path, sorted by the places of the neighbours above; for a few hundred nodes.
function layoutOf(chosen, allowed) {
  const layer = new Map();
  const depth = (index) => {
    if (!layer.has(index)) {
      const causes = nodes[index].in.filter((edge) => allowed(edge) && chosen.has(edge.s));
      layer.set(index, 0);
      layer.set(index, Math.max(-1, ...causes.map((edge) => depth(edge.s))) + 1);
    }
    return layer.get(index);
  };
  const layers = [];
  chosen.forEach((index) => { (layers[depth(index)] = layers[depth(index)] || []).push(index); });
  const place = new Map();
  const spread = (row) => {
    const total = row.reduce((sum, index) => sum + roomFor(nodes[index]) + 26, -26);
    let left = -total / 2;
    row.forEach((index) => {
      place.set(index, left + roomFor(nodes[index]) / 2);
      left += roomFor(nodes[index]) + 26;
    });
  };
  layers.forEach(spread);
  for (let sweep = 0; sweep < 8; sweep += 1) {
    const side = sweep % 2 ? 'out' : 'in';
    const rows = sweep % 2 ? layers.slice().reverse() : layers;
    rows.forEach((row) => {
      const mean = new Map(row.map((index) => {
        const others = nodes[index][side].filter(allowed).map((edge) => (side === 'in' ? edge.s : edge.t));
        const seen = others.filter((other) => place.has(other)).map((other) => place.get(other));
        return [index, seen.length ? seen.reduce((a, b) => a + b, 0) / seen.length : place.get(index)];
      }));
      row.sort((a, b) => mean.get(a) - mean.get(b));
      spread(row);
    });
  }
  const widest = Math.max(...layers.map((row) => row.length));
  const gap = widest > 12 ? 170 : 96;
  return new Map([...place].map(([index, x]) => [index, { x, y: layer.get(index) * gap }]));
}
