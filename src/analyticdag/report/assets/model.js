// The graph as lists, and walks along it. Nothing here touches the page.

const data = JSON.parse(document.getElementById('run-data').textContent);
const nodes = data.nodes;
const edges = data.edges;

edges.forEach((edge, index) => { edge.index = index; });
// Those of an identity last, whose strength says nothing, then by strength.
const strongestFirst = (a, b) => a.tied - b.tied || b.strength - a.strength;
// Rank of an edge, the weakest first: the slider hides that many.
edges.slice().sort((a, b) => strongestFirst(b, a)).forEach((edge, rank) => { edge.rank = rank; });
const byRank = edges.slice().sort((a, b) => a.rank - b.rank);

nodes.forEach((node, index) => {
  node.index = index;
  node.out = [];
  node.in = [];
  node.home = { x: node.x, y: node.y };
});
edges.forEach((edge) => {
  nodes[edge.s].out.push(edge);
  nodes[edge.t].in.push(edge);
});

// All nodes that can be reached from `start`, following edges one way and only where allowed.
function reach(start, side, allowed) {
  const seen = new Set();
  const todo = [start];
  while (todo.length) {
    const node = nodes[todo.pop()];
    for (const edge of node[side]) {
      const next = side === 'out' ? edge.t : edge.s;
      if (allowed(edge) && next !== start && !seen.has(next)) {
        seen.add(next);
        todo.push(next);
      }
    }
  }
  return seen;
}

// All nodes within so many steps of `start`, in either direction, itself included.
function neighbourhood(start, steps, allowed) {
  const seen = new Set([start]);
  let border = [start];
  for (let step = 0; step < steps; step += 1) {
    const next = [];
    for (const index of border) {
      for (const edge of nodes[index].out.concat(nodes[index].in)) {
        const other = edge.s === index ? edge.t : edge.s;
        if (allowed(edge) && !seen.has(other)) {
          seen.add(other);
          next.push(other);
        }
      }
    }
    border = next;
  }
  return seen;
}

function number(value, digits) {
  return value === null || value === undefined ? '' : Number(value.toPrecision(digits || 4)).toString();
}

function count(size, one, many) {
  return size + ' ' + (size === 1 ? one : many);
}

function describe(edge) {
  const share = (value) => Math.round(100 * value) + '% of resamples';
  const parts = [];
  if (undirected(edge)) parts.push('strength ' + number(edge.strength, 3));
  else {
    parts.push('weight ' + number(edge.weight) + (edge.error === null ? '' : ' ± ' + number(edge.error, 2)));
    if (edge.standardized !== null) parts.push(number(edge.standardized, 3) + ' sd per sd');
  }
  const likely = (value) => Math.round(100 * value) + ' %';
  if (edge.probability !== null) parts.push('linked at all: ' + likely(edge.probability));
  if (edge.directionProbability !== null && !edge.line) parts.push('linked this way: ' + likely(edge.directionProbability));
  if (edge.near) parts.push('close to the price of a link: another sample may not have it');
  if (edge.stability !== null) parts.push('joined in ' + share(edge.stability));
  if (edge.directionStability !== null && !edge.line) {
    parts.push('direction fixed in ' + share(edge.directionStability));
  }
  if (edge.fixedBy === 'identity') parts.push('its columns determine each other: any links among them fit as well');
  else if (edge.open) parts.push('direction open: the reverse fits as well');
  else if (edge.line) parts.push('direction unsure: an arrow is less likely than not');
  else parts.push('direction fixed by ' + edge.fixedBy);
  if (edge.margin !== null && !edge.line) {
    parts.push('margin of ' + edge.margin.toFixed(1) + ' standard errors');
  }
  return parts;
}
