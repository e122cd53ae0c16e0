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
  control('filter').addEventListener('input', (event) => filterRows(rows, event.target.value));
  filterRows(rows, '');
  rows.forEach((row) => {
    const point = (on) => {
      edgeGroups[Number(row.dataset.row)].classList.toggle('hot', on || Number(row.dataset.row) === state.edge);
    };
    row.addEventListener('pointerenter', () => point(true));
    row.addEventListener('pointerleave', () => point(false));
    row.addEventListener('click', () => pickRow(rows, row));
  });
}

function pickRow(rows, row) {
  const index = Number(row.dataset.row);
  state.edge = state.edge === index ? null : index;
  rows.forEach((other) => toggle(other, 'hot', Number(other.dataset.row) === state.edge));
  update();
  if (state.edge !== null) bringIntoView(nodes[edges[index].s]);
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

function filterRows(rows, text) {
  const wanted = text.trim().toLowerCase();
  let count = 0;
  rows.forEach((row) => {
    const hit = !wanted || row.textContent.toLowerCase().includes(wanted);
    row.hidden = !hit;
    count += hit ? 1 : 0;
  });
  control('table-count').textContent = count + ' of ' + rows.length + ' edges';
}
