// The table of edges: sorts by its headers, filters as one types, points at the graph.

function listenToTable() {
  const table = control('edge-table');
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  table.classList.add('live');
  control('table-tools').hidden = false;
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener('click', () => sortBy(table, rows, header, column));
  });
  control('filter').addEventListener('input', showRows);
  rows.forEach((row) => {
    const point = (on) => {
      edgeGroups[Number(row.dataset.row)].classList.toggle('hot', on || Number(row.dataset.row) === state.edge);
    };
    row.addEventListener('pointerenter', () => point(true));
    row.addEventListener('pointerleave', () => point(false));
    row.addEventListener('click', () => {
      pickEdge(Number(row.dataset.row));
      if (state.edge !== null) showPlace(panel);
    });
  });
}

// The panel stands beside the graph, and the reader beside the table: go there, with the graph if both fit.
function showPlace(element) {
  element.scrollIntoView({ block: element.offsetHeight < innerHeight ? 'end' : 'start' });
}

function pickEdge(index) {
  const again = state.edge === index;
  // Among surroundings the link is shown in those of its first end, unless it is there already.
  if (!state.steps) state.selected = null;
  else if (!shown.edges.has(index)) state.selected = edges[index].s;
  state.edge = again ? null : index;
  update();
  if (again) return;
  bringIntoView(nodes[edges[index].s]);
  const [x, y] = edges[index].line ? [edges[index].s, edges[index].t].sort((a, b) => a - b)
    : [edges[index].s, edges[index].t];
  if (data.effects.answered) ask(x, y);
}

function sortBy(table, rows, header, column) {
  const numeric = header.dataset.kind === 'number';
  const down = header.getAttribute('aria-sort') === (numeric ? null : 'ascending')
    || (numeric && header.getAttribute('aria-sort') !== 'descending');
  [...header.parentNode.cells].forEach((cell) => cell.removeAttribute('aria-sort'));
  header.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  // Numbers by size whatever their sign: a strong negative effect is a strong effect.
  const value = (row) => {
    const cell = row.cells[column];
    if (!numeric) return cell.textContent;
    return cell.dataset.value === '' ? -1 : Math.abs(Number(cell.dataset.value));
  };
  const compare = numeric ? (a, b) => value(a) - value(b) : (a, b) => value(a).localeCompare(value(b));
  rows.sort((a, b) => (down ? -1 : 1) * compare(a, b));
  table.tBodies[0].append(...rows);
}

// The rows that the text and the sliders leave.
function showRows() {
  const table = control('edge-table');
  if (!table) return;
  const wanted = control('filter').value.trim().toLowerCase();
  const rows = [...table.tBodies[0].rows];
  let left = 0;
  rows.forEach((row) => {
    const index = Number(row.dataset.row);
    const hit = listed.has(index) && (!wanted || row.textContent.toLowerCase().includes(wanted));
    row.hidden = !hit;
    toggle(row, 'hot', index === state.edge);
    left += hit ? 1 : 0;
  });
  control('table-count').textContent = left + ' of ' + rows.length + ' links';
}
