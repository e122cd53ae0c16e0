// What is shown: one state, one function that brings the picture in line with it.

const svg = document.getElementById('graph');
const stage = document.getElementById('stage');
const tip = document.getElementById('tip');
const nodeGroups = [...svg.querySelectorAll('[data-node]')];
const edgeGroups = [...svg.querySelectorAll('[data-edge]')];
const labels = [...svg.querySelectorAll('[data-label]')];

const state = { known: true, rung: ownRung, hidden: 0, degree: 0, steps: 0, selected: null, edge: null };
const box = { x: 0, y: 0, w: 100, h: 100 };
let shown = { nodes: new Set(nodes.keys()), edges: new Set(edges.keys()) };
let listed = shown.edges; // the links that the table has
let around = null; // the node and steps that the present neighbourhood layout is of

const LEAST_SCALE = 0.72; // names of 13 pixels stay above nine
const strongEnough = (edge) => edge.rank >= state.hidden && onRung(edge);

function toggle(element, name, on) {
  element.classList.toggle(name, on);
}

function decideWhatIsShown() {
  const chosen = new Set();
  nodes.forEach((node) => {
    const degree = node.in.filter(strongEnough).length + node.out.filter(strongEnough).length;
    if (degree >= state.degree || node.index === state.selected) chosen.add(node.index);
  });
  let visible = chosen;
  if (state.steps && state.selected !== null) {
    const near = neighbourhood(state.selected, state.steps, strongEnough);
    visible = new Set([...near].filter((index) => chosen.has(index)));
  }
  const inside = (edge) => strongEnough(edge) && visible.has(edge.s) && visible.has(edge.t);
  shown = { nodes: visible, edges: new Set(edges.filter(inside).map((edge) => edge.index)) };
  // A table is read as a whole: the sliders shorten it, a look at the surroundings of one node does not.
  listed = new Set(edges.filter((edge) => strongEnough(edge) && chosen.has(edge.s) && chosen.has(edge.t))
    .map((edge) => edge.index));
}

function placeNodes() {
  const wanted = state.steps && state.selected !== null
    ? [state.selected, state.steps, state.hidden, state.degree, state.rung].join(' ') : null;
  if (wanted === around) return false;
  around = wanted;
  const places = wanted ? layoutOf(shown.nodes, (edge) => shown.edges.has(edge.index)) : null;
  nodes.forEach((node) => Object.assign(node, (places && places.get(node.index)) || node.home));
  nodes.forEach(moveNode);
  edges.forEach(moveEdge);
  moveExtras();
  return true;
}

function moveNode(node) {
  nodeGroups[node.index].setAttribute('transform', 'translate(' + node.x + ',' + node.y + ')');
}

// The detours of the first layout mean nothing in another one, nor once an end was moved a little.
function bendsOf(edge) {
  const atHome = !nodes[edge.s].moved && !nodes[edge.t].moved;
  return around === null && (atHome || edge.bends.length > 1) ? edge.bends : [];
}

function moveEdge(edge) {
  const points = route(edge);
  const group = edgeGroups[edge.index];
  // Without a head the line goes all the way.
  const path = curvePath(points, undirected(edge) ? 0 : HEAD);
  group.querySelectorAll('.hit, .line').forEach((element) => element.setAttribute('d', path));
  group.querySelector('.head').setAttribute('d', headPath(points));
  if (labels[edge.index]) {
    const [x, y] = labelPlace(points, edge.index);
    labels[edge.index].setAttribute('x', x);
    labels[edge.index].setAttribute('y', y);
  }
}

function paint() {
  const picked = state.selected;
  const visible = (edge) => shown.edges.has(edge.index);
  const along = (edge) => visible(edge) && !undirected(edge);
  const up = picked === null ? new Set() : reach(picked, 'in', along);
  const down = picked === null ? new Set() : reach(picked, 'out', along);
  const related = (index) => picked === null || index === picked || up.has(index) || down.has(index)
    || isNeighbour(index);
  toggle(svg, 'class-view', state.known);
  toggle(svg, 'around', around !== null);
  nodes.forEach((node) => {
    const group = nodeGroups[node.index];
    toggle(group, 'gone', !shown.nodes.has(node.index));
    toggle(group, 'selected', node.index === picked);
    toggle(group, 'up', up.has(node.index));
    toggle(group, 'down', down.has(node.index));
    toggle(group, 'near', around !== null || isNeighbour(node.index));
    toggle(group, 'faded', around === null && !related(node.index));
    group.setAttribute('aria-pressed', String(node.index === picked));
  });
  edges.forEach((edge) => {
    const touches = undirected(edge) && (edge.s === picked || edge.t === picked);
    const within = touches || (up.has(edge.s) || edge.s === picked || down.has(edge.s))
      && (up.has(edge.t) || edge.t === picked || down.has(edge.t))
      && !(up.has(edge.s) && down.has(edge.t));
    const faded = picked !== null && around === null && !within;
    toggle(edgeGroups[edge.index], 'gone', !visible(edge));
    toggle(edgeGroups[edge.index], 'faded', faded);
    toggle(edgeGroups[edge.index], 'hot', edge.index === state.edge);
    if (labels[edge.index]) toggle(labels[edge.index], 'gone', !visible(edge) || faded);
  });
  paintExtras();
}

function isNeighbour(index) {
  const picked = state.selected;
  if (picked === null) return false;
  return nodes[picked].out.some((edge) => edge.t === index && strongEnough(edge))
    || nodes[picked].in.some((edge) => edge.s === index && strongEnough(edge));
}

function update() {
  decideWhatIsShown();
  const moved = placeNodes();
  paint();
  if (moved) fit();
  showPanel();
  showNumbers();
  showRows();
}

// The window on the drawing has the shape of its frame, so that one number is the scale.

function setBox(x, y, w) {
  const frame = svg.getBoundingClientRect();
  box.w = Math.max(w, 120);
  box.h = box.w * frame.height / Math.max(frame.width, 1);
  box.x = x;
  box.y = y;
  svg.setAttribute('viewBox', [box.x, box.y, box.w, box.h].map((v) => v.toFixed(1)).join(' '));
  toggle(svg, 'close', frame.width / box.w > 2.2);
}

function bounds() {
  const chosen = nodes.filter((node) => shown.nodes.has(node.index));
  if (!chosen.length) return { x: 0, y: 0, w: data.size[0], h: data.size[1] };
  // Edges may go around outside of all nodes, further than their bends.
  const lines = [...shown.edges].map((index) => edgeGroups[index].querySelector('.line').getBBox());
  const least = (places, ends) => places.concat(ends).reduce((a, b) => Math.min(a, b));
  const most = (places, ends) => places.concat(ends).reduce((a, b) => Math.max(a, b));
  const left = least(chosen.map((node) => node.x - node.w / 2), lines.map((line) => line.x)) - 28;
  const right = most(chosen.map((node) => node.x + (around ? roomFor(node) : node.w / 2)),
    lines.map((line) => line.x + line.width)) + 28;
  const top = least(chosen.map((node) => node.y - node.h), lines.map((line) => line.y)) - 24;
  const bottom = most(chosen.map((node) => node.y + node.h), lines.map((line) => line.y + line.height)) + 24;
  return { x: left, y: top, w: right - left, h: bottom - top };
}

function fit() {
  const frame = svg.getBoundingClientRect();
  if (!frame.width || !frame.height) return; // not laid out yet, or hidden
  const b = bounds();
  const aspect = frame.width / Math.max(frame.height, 1);
  const width = Math.max(b.w, b.h * aspect, frame.width / 1.3);
  setBox(b.x + b.w / 2 - width / 2, b.y + b.h / 2 - width / aspect / 2, width);
}

// A large drawing would be too small to read: begin with the surroundings of the node with most links.
function begin() {
  takeHeight();
  if (!data.dots && (!nodes.length || isReadable())) return;
  state.steps = 1;
  control('steps').value = '1';
  state.selected = mostLinked();
  update();
  takeHeight();
  if (!isReadable()) lookAt(nodes[state.selected]);
}

function takeHeight() {
  const b = bounds();
  const scale = Math.min(svg.getBoundingClientRect().width / b.w, 1.3);
  const room = Math.min(0.72 * innerHeight, 720);
  svg.style.height = Math.min(Math.max(b.h * scale, 260), room).toFixed(0) + 'px';
  fit();
}

function isReadable() {
  return box.w <= svg.getBoundingClientRect().width / LEAST_SCALE;
}

function lookAt(node) {
  const b = bounds();
  const width = svg.getBoundingClientRect().width / LEAST_SCALE;
  const height = width * box.h / box.w;
  // No further than the drawing goes; its middle where it is smaller than the frame.
  const from = (centre, room, least, size) => (room > size ? least + (size - room) / 2
    : Math.max(least, Math.min(centre - room / 2, least + size - room)));
  setBox(from(node.x, width, b.x, b.w), from(node.y, height, b.y, b.h), width);
}

function zoom(factor, at) {
  const centre = at || [box.x + box.w / 2, box.y + box.h / 2];
  const limit = Math.max(data.size[0], data.size[1], 400) * 4;
  const width = Math.min(Math.max(box.w / factor, 120), limit);
  const share = width / box.w;
  setBox(centre[0] - (centre[0] - box.x) * share, centre[1] - (centre[1] - box.y) * share, width);
}

function toDrawing(event) {
  const frame = svg.getBoundingClientRect();
  const scale = box.w / frame.width;
  return [box.x + (event.clientX - frame.left) * scale, box.y + (event.clientY - frame.top) * scale];
}

function bringIntoView(node) {
  const inside = node.x > box.x && node.x < box.x + box.w && node.y > box.y && node.y < box.y + box.h;
  const small = data.dots && svg.getBoundingClientRect().width / box.w < 0.6;
  if (inside && !small) return;
  const width = small ? svg.getBoundingClientRect().width : box.w;
  const height = width * box.h / box.w;
  setBox(node.x - width / 2, node.y - height / 2, width);
}

function select(index) {
  state.selected = index;
  state.edge = null;
  if (index !== null) focusable(index);
  update();
  if (index !== null) bringIntoView(nodes[index]);
}

function showTip(event, lines) {
  tip.replaceChildren(...lines.map((line, k) => {
    const part = document.createElement(k ? 'div' : 'b');
    part.textContent = line.length > 200 ? line.slice(0, 199) + '…' : line;
    return part;
  }));
  tip.hidden = false;
  const frame = stage.getBoundingClientRect();
  const x = Math.min(event.clientX - frame.left + 14, frame.width - tip.offsetWidth - 8);
  const y = Math.min(event.clientY - frame.top + 14, frame.height - tip.offsetHeight - 8);
  tip.style.left = Math.max(x, 4) + 'px';
  tip.style.top = Math.max(y, 4) + 'px';
}
