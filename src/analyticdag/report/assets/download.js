// The picture as a file: what is visible now, with its colours written into it.

const KEPT = ['fill', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-linejoin', 'stroke-dasharray',
  'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'paint-order'];

function standalone() {
  const copy = svg.cloneNode(true);
  const pairs = [[svg, copy]];
  while (pairs.length) {
    const [original, twin] = pairs.pop();
    const children = [...original.children];
    const twins = [...twin.children];
    children.forEach((child, k) => {
      if (getComputedStyle(child).display === 'none' && child.tagName !== 'title') twins[k].remove();
      else if (child.classList.contains('hit')) twins[k].remove();
      else pairs.push([child, twins[k]]);
    });
    if (original === svg || original.tagName === 'title') continue;
    const style = getComputedStyle(original);
    KEPT.forEach((name) => {
      const value = style.getPropertyValue(name);
      if (value && value !== 'none' && value !== 'normal') twin.setAttribute(name, value);
      else if (name === 'fill' && value === 'none') twin.setAttribute(name, value);
    });
    ['class', 'tabindex', 'role', 'aria-pressed', 'aria-label'].forEach((name) => twin.removeAttribute(name));
  }
  const b = bounds();
  copy.setAttribute('viewBox', [b.x, b.y, b.w, b.h].join(' '));
  copy.setAttribute('width', b.w);
  copy.setAttribute('height', b.h);
  copy.removeAttribute('class');
  const ground = document.createElementNS(svg.namespaceURI, 'rect');
  Object.entries({ x: b.x, y: b.y, width: b.w, height: b.h, fill: getComputedStyle(stage).backgroundColor })
    .forEach(([name, value]) => ground.setAttribute(name, value));
  copy.prepend(ground);
  return { text: new XMLSerializer().serializeToString(copy), width: b.w, height: b.h };
}

function offer(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function saveSvg() {
  offer(new Blob([standalone().text], { type: 'image/svg+xml' }), 'graph.svg');
}

function savePng() {
  const drawing = standalone();
  const url = URL.createObjectURL(new Blob([drawing.text], { type: 'image/svg+xml' }));
  const image = new Image();
  image.onload = () => {
    // Browsers refuse canvases much larger than this.
    const scale = Math.min(2, 12000 / Math.max(drawing.width, drawing.height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(drawing.width * scale);
    canvas.height = Math.round(drawing.height * scale);
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(url);
    canvas.toBlob((blob) => offer(blob, 'graph.png'), 'image/png');
  };
  image.src = url;
}
