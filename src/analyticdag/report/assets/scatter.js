// Scatter plots of a pair: as measured, and with what the other causes explain taken out.

const PLOT = { width: 230, height: 190, left: 30, bottom: 30, top: 8, right: 8 };

function drawn(name, attributes, text) {
  const element = document.createElementNS(svg.namespaceURI, name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  if (text) element.textContent = text;
  return element;
}

function scatter(title, points, xName, yName) {
  const figure = document.createElement('figure');
  figure.append(paragraph(title, 'figcaption'));
  const plot = drawn('svg', { viewBox: '0 0 ' + PLOT.width + ' ' + PLOT.height, role: 'img', 'aria-label': title });
  const most = Math.max(1, ...points.map((point) => Math.max(Math.abs(point[0]), Math.abs(point[1]))));
  const x = (value) => PLOT.left + (value / most + 1) / 2 * (PLOT.width - PLOT.left - PLOT.right);
  const y = (value) => PLOT.top + (1 - value / most) / 2 * (PLOT.height - PLOT.top - PLOT.bottom);
  plot.append(
    drawn('line', { class: 'grid', x1: x(-most), x2: x(most), y1: y(0), y2: y(0) }),
    drawn('line', { class: 'grid', x1: x(0), x2: x(0), y1: y(-most), y2: y(most) }),
    ...points.map(([a, b]) => drawn('circle', { class: 'point', cx: x(a).toFixed(1), cy: y(b).toFixed(1), r: 2 })),
    drawn('text', { class: 'tick x', x: x(0), y: PLOT.height - 8 }, xName),
    drawn('text', { class: 'tick x', transform: 'translate(14,' + y(0) + ') rotate(-90)' }, yName),
  );
  figure.append(plot);
  return figure;
}

function scatters(edge) {
  const plots = document.createElement('div');
  if (!data.rows.length) return plots;
  plots.className = 'plots scatters';
  const names = [nodes[edge.s].label, nodes[edge.t].label];
  plots.append(scatter('As measured', data.rows.map((row) => [row[edge.s], row[edge.t]]), ...names));
  const others = nodes[edge.t].in.filter((other) => other !== edge);
  if (others.length && others.every((other) => other.standardized !== null)) {
    const rest = (row) => others.reduce((sum, other) => sum - other.standardized * row[other.s], row[edge.t]);
    const title = 'Without what ' + others.map((other) => nodes[other.s].label).slice(0, 3).join(', ')
      + (others.length > 3 ? ' and others' : '') + ' explain' + (others.length === 1 ? 's' : '')
      + (edge.line ? ' (in one possible graph)' : '');
    plots.append(scatter(title, data.rows.map((row) => [row[edge.s], rest(row)]), names[0], names[1] + ', the rest'));
  }
  plots.append(paragraph(data.rows.length + ' rows, in standard deviations from the mean'));
  return plots;
}
