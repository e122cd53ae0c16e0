// Pointer, keyboard, sliders and the panel on the selected variable.

const control = (id) => document.getElementById(id);
const panel = control('panel');

// How strong a link is shown to be, comparable between columns; a sign belongs to a direction.
function sizeOf(edge) {
  if (undirected(edge)) return edge.strength;
  return edge.standardized === null ? edge.weight : edge.standardized;
}

// Whether a link is shown without a direction.
const undirected = (edge) => state.known && edge.line;

function arrow(edge) {
  if (!undirected(edge)) return nodes[edge.s].label + ' → ' + nodes[edge.t].label;
  return nodes[Math.min(edge.s, edge.t)].label + ' — ' + nodes[Math.max(edge.s, edge.t)].label;
}

function listenToPointer() {
  let grip = null;
  svg.addEventListener('pointerdown', (event) => {
    if (event.button) return;
    const group = event.target.closest('[data-node]');
    const onEdge = event.target.closest('[data-edge]');
    const node = group ? nodes[Number(group.dataset.node)] : null;
    const edge = onEdge ? Number(onEdge.dataset.edge) : null;
    grip = { node, edge, from: toDrawing(event), start: [event.clientX, event.clientY], moved: false };
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener('pointermove', (event) => {
    if (!grip) { hover(event); return; }
    const far = Math.hypot(event.clientX - grip.start[0], event.clientY - grip.start[1]) > 4;
    if (!far && !grip.moved) return;
    grip.moved = true;
    tip.hidden = true;
    svg.classList.add('dragging');
    const at = toDrawing(event);
    if (grip.node) dragNode(grip.node, at);
    else setBox(box.x - at[0] + grip.from[0], box.y - at[1] + grip.from[1], box.w);
  });
  const release = () => {
    if (!grip) return;
    if (!grip.moved && grip.edge !== null) pickEdge(grip.edge);
    else if (!grip.moved) pickNode(grip.node);
    svg.classList.remove('dragging');
    grip = null;
  };
  svg.addEventListener('pointerup', release);
  svg.addEventListener('pointercancel', () => { grip = null; });
  svg.addEventListener('pointerleave', () => { tip.hidden = true; });
  svg.addEventListener('wheel', (event) => {
    // Plain scrolling belongs to the page until the reader has stepped into the graph.
    if (!event.ctrlKey && !event.metaKey && !svg.contains(document.activeElement)) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), toDrawing(event));
  }, { passive: false });
}

// A second click, or one beside everything, clears; the surroundings of a node stay what they are.
function pickNode(node) {
  const again = !node || (node.index === state.selected && state.edge === null);
  select(again ? (state.steps ? state.selected : null) : node.index);
}

function dragNode(node, at) {
  node.x = at[0];
  node.y = at[1];
  if (around === null) {
    node.home = { x: node.x, y: node.y };
    node.moved = true;
  }
  moveNode(node);
  // Its neighbours sort their ends anew, so their other edges may move too.
  const near = node.in.concat(node.out);
  const touched = new Set(near.flatMap((edge) => nodes[edge.s].out.concat(nodes[edge.t].in)));
  new Set([...touched, ...near]).forEach(moveEdge);
  moveExtras();
}

function hover(event) {
  const onNode = event.target.closest('[data-node]');
  const onEdge = event.target.closest('[data-edge]');
  if (onNode) {
    const node = nodes[Number(onNode.dataset.node)];
    showTip(event, [node.name, family(node)]);
  } else if (onEdge) {
    const edge = edges[Number(onEdge.dataset.edge)];
    showTip(event, [arrow(edge)].concat(describe(edge)));
  } else {
    tip.hidden = true;
  }
}

function mostLinked() {
  const degree = (node) => node.in.length + node.out.length;
  return nodes.reduce((best, node) => (degree(node) > degree(best) ? node : best)).index;
}

function focusable(index) {
  nodeGroups.forEach((group, k) => group.setAttribute('tabindex', k === index ? '0' : '-1'));
}

function nearest(node, candidates) {
  const distance = (index) => Math.hypot(nodes[index].x - node.x, nodes[index].y - node.y);
  const seen = candidates.filter((index) => shown.nodes.has(index));
  return seen.sort((a, b) => distance(a) - distance(b))[0];
}

function listenToKeys() {
  svg.addEventListener('keydown', (event) => {
    const group = event.target.closest('[data-node]');
    const node = group ? nodes[Number(group.dataset.node)] : null;
    const visible = (edge) => shown.edges.has(edge.index);
    const beside = (sign) => nearest(node, [...nodes.keys()].filter((index) =>
      index !== node.index && Math.sign(nodes[index].x - node.x) === sign
      && Math.abs(nodes[index].y - node.y) < 50));
    const moves = {
      ArrowUp: () => nearest(node, node.in.filter(visible).map((edge) => edge.s)),
      ArrowDown: () => nearest(node, node.out.filter(visible).map((edge) => edge.t)),
      ArrowLeft: () => beside(-1),
      ArrowRight: () => beside(1),
    };
    if (node && moves[event.key]) {
      const next = moves[event.key]();
      if (next !== undefined) {
        focusable(next);
        nodeGroups[next].focus();
        bringIntoView(nodes[next]);
      }
    } else if (node && (event.key === 'Enter' || event.key === ' ')) {
      select(node.index === state.selected ? null : node.index);
    } else if (event.key === 'Escape') select(null);
    else if (event.key === '+' || event.key === '=') zoom(1.3);
    else if (event.key === '-') zoom(1 / 1.3);
    else if (event.key === '0') fit();
    else return;
    event.preventDefault();
  });
}

function listenToControls() {
  control('controls').addEventListener('submit', (event) => event.preventDefault());
  document.querySelectorAll('input[name=view]').forEach((input) => input.addEventListener('change', () => {
    state.known = input.value === 'class';
    control('member-note').hidden = state.known;
    edges.filter((edge) => edge.line).forEach(moveEdge);
    update();
  }));
  const slider = (id, key) => control(id).addEventListener('input', (event) => {
    state[key] = Number(event.target.value);
    update();
  });
  slider('threshold', 'hidden');
  slider('rung', 'rung');
  slider('degree', 'degree');
  slider('steps', 'steps');
  control('steps').addEventListener('change', () => {
    if (state.steps && state.selected === null && nodes.length) select(mostLinked());
  });
  control('weights').addEventListener('change', (event) => toggle(svg, 'with-weights', event.target.checked));
  control('zoom-in').addEventListener('click', () => zoom(1.3));
  control('zoom-out').addEventListener('click', () => zoom(1 / 1.3));
  control('zoom-fit').addEventListener('click', fit);
  control('reset').addEventListener('click', reset);
  control('show-all').addEventListener('click', reset);
  control('search').addEventListener('input', (event) => find(event.target.value, false));
  control('search').addEventListener('keydown', (event) => {
    if (event.key === 'Enter') find(event.target.value, true);
  });
}

function find(text, partly) {
  const wanted = text.trim().toLowerCase();
  const exact = nodes.find((node) => node.name.toLowerCase() === wanted);
  const begins = nodes.find((node) => node.name.toLowerCase().startsWith(wanted));
  const holds = nodes.find((node) => node.name.toLowerCase().includes(wanted));
  const found = wanted && (exact || (partly && (begins || holds)));
  select(found ? found.index : null);
}

function reset() {
  Object.assign(state, { rung: ownRung, hidden: 0, degree: 0, steps: 0, selected: null, edge: null });
  control('threshold').value = 0;
  control('rung').value = ownRung;
  control('degree').value = 0;
  control('steps').value = 0;
  control('search').value = '';
  nodes.forEach((node) => {
    node.home = { x: data.nodes0[node.index][0], y: data.nodes0[node.index][1] };
    node.moved = false;
  });
  around = undefined; // anything but what is wanted, so that the nodes go home
  update();
  fit();
}

function showNumbers() {
  const cut = state.hidden >= edges.length ? null : byRank[state.hidden];
  control('threshold-text').textContent = !edges.length || !cut ? '0 of ' + edges.length + ' links'
    : (cut.tied ? '' : '≥ ' + number(cut.strength, 3) + ' · ') + shown.edges.size + ' of ' + edges.length + ' links';
  control('rung-text').textContent = rungText();
  control('part').hidden = shown.nodes.size === nodes.length;
  control('part-text').textContent = (state.steps && state.selected !== null
    ? nodes[state.selected].label + ' and its surroundings: ' : '')
    + shown.nodes.size + ' of ' + nodes.length + ' variables are shown.';
  control('degree-text').textContent = state.degree ? 'at least ' + state.degree : 'any number';
}

function linkTo(index) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = nodes[index].name.slice(0, 200);
  button.addEventListener('click', () => select(index));
  return button;
}

function listOf(title, list, otherEnd) {
  const part = document.createElement('div');
  const head = document.createElement('p');
  head.className = 'soft';
  head.textContent = list.length ? title : 'no ' + title.toLowerCase();
  const items = document.createElement('ul');
  list.slice().sort(strongestFirst).forEach((edge) => {
    const item = document.createElement('li');
    const size = document.createElement('span');
    size.textContent = number(sizeOf(edge), 3);
    item.append(linkTo(otherEnd(edge)), size);
    items.append(item);
  });
  part.append(head, items);
  return part;
}

// Neighbours by what is shown of them: causes, effects, and links without a direction.
function neighbours(node) {
  return {
    causes: node.in.filter((edge) => !undirected(edge)),
    effects: node.out.filter((edge) => !undirected(edge)),
    open: node.in.concat(node.out).filter(undirected),
  };
}

function family(node) {
  const near = neighbours(node);
  const parts = [count(near.causes.length, 'cause', 'causes'), count(near.effects.length, 'effect', 'effects')];
  if (near.open.length) parts.push(count(near.open.length, 'link without an arrow', 'links without an arrow'));
  return parts.join(', ');
}

function paragraph(text, name) {
  const part = document.createElement(name || 'p');
  part.textContent = text;
  return part;
}

function showPanel() {
  panel.hidden = state.selected === null && state.edge === null;
  if (panel.hidden) return;
  if (state.edge !== null) showEdge(edges[state.edge]);
  else showNode(nodes[state.selected]);
}

// Counts are of the whole graph: filters hide links, they do not undo them.
function showNode(node) {
  const certain = (edge) => !undirected(edge);
  const sums = paragraph(count(reach(node.index, 'in', certain).size, 'ancestor', 'ancestors') + ', '
    + count(reach(node.index, 'out', certain).size, 'descendant', 'descendants')
    + (edges.some(undirected) ? ' along arrows' : ''));
  sums.className = 'soft';
  const near = neighbours(node);
  const columns = document.createElement('div');
  columns.className = 'columns';
  columns.append(listOf('Causes', near.causes, (edge) => edge.s), listOf('Effects', near.effects, (edge) => edge.t));
  if (near.open.length) {
    columns.append(listOf('Without an arrow', near.open, (edge) => (edge.s === node.index ? edge.t : edge.s)));
  }
  panel.replaceChildren(paragraph(node.name, 'h3'), sums, columns);
}

function showEdge(edge) {
  const parts = describe(edge).map((text) => paragraph(text));
  if (edge.line) {
    parts.push(paragraph('What would fix it: knowledge that rules one direction out (a file knowledge.toml), '
      + 'rows in which one of the two was set by an experiment, or another link that meets this one.'));
  }
  panel.replaceChildren(paragraph(arrow(edge), 'h3'), ...parts, ...questionsOf(edge), scatters(edge));
}
