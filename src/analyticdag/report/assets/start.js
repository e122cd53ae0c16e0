// Take hold of the static picture.

data.nodes0 = nodes.map((node) => [node.x, node.y]);
svg.classList.add('live');
svg.querySelectorAll('title').forEach((title) => title.remove()); // our own tip takes over
nodeGroups.forEach((group, index) => {
  const node = nodes[index];
  group.setAttribute('role', 'button');
  group.setAttribute('aria-label', node.name.slice(0, 200) + ': ' + family(node));
});
if (nodes.length) focusable(0);
const most = Math.max(0, ...nodes.map((node) => node.in.length + node.out.length));
control('degree').max = Math.min(most, 30);
control('threshold').max = edges.length;
drawExtras();
control('names').append(...nodes.filter((node) => node.name.length < 200).map((node) => {
  const option = document.createElement('option');
  option.value = node.name;
  return option;
}));
control('controls').hidden = false;
control('keys').hidden = false;
around = null;
listenToPointer();
listenToKeys();
listenToControls();
listenToTable();
listenToQuestions();
control('save-svg').addEventListener('click', saveSvg);
control('save-png').addEventListener('click', savePng);
addEventListener('resize', fit);
update();
begin();
