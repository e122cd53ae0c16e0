// What happens if: effects of a chosen cause on a chosen outcome, and knowledge marked on links.

const asked = { cause: null, outcome: null };
const answerOf = new Map(data.effects.pairs.map((pair) => [pair.x + ' ' + pair.y, pair]));
const HIDDEN_CAUSE = 'This link may be due to a common cause that was not measured.';
// For each marked link: 'required' or 'forbidden', from one end to the other.
const marks = new Map();

function suspected(edge) {
  return data.effects.hidden.some(([a, b]) => (a === edge.s && b === edge.t) || (a === edge.t && b === edge.s));
}

// Lines of the answer; a pair that is not among those with an effect has none.
function answerLines(x, y) {
  const found = answerOf.get(x + ' ' + y);
  if (found) return found.say;
  return ['No graph that fits has a directed path from ' + nodes[x].name + ' to ' + nodes[y].name + ': no effect.'];
}

function listenToQuestions() {
  control('effects-section').hidden = false;
  control('ask').hidden = !data.effects.answered;
  if (!data.effects.answered) {
    control('ask-hint').textContent = nodes.length > data.effects.limit
      ? 'With more than ' + data.effects.limit + ' variables effects are not kept in this page: '
        + 'analyticdag effect RUN --of CAUSE --on OUTCOME computes one. Click a link in the graph to say what you know.'
      : 'This run cannot tell effects: they are those of linear equations between numbers, and here some are not. Click a link in the graph to say what you know.';
  }
  [['ask-cause', 'cause'], ['ask-outcome', 'outcome']].forEach(([id, key]) => {
    const options = nodes.map((node) => new Option(node.name.slice(0, 200), String(node.index)));
    control(id).append(new Option('choose', ''), ...options);
    control(id).addEventListener('change', (event) => {
      asked[key] = event.target.value === '' ? null : Number(event.target.value);
      showAnswer();
    });
  });
  control('ask').addEventListener('submit', (event) => event.preventDefault());
  control('ask-clear').addEventListener('click', () => ask(null, null));
  control('save-knowledge').addEventListener('click', saveKnowledge);
}

function ask(cause, outcome) {
  Object.assign(asked, { cause, outcome });
  control('ask-cause').value = cause === null ? '' : String(cause);
  control('ask-outcome').value = outcome === null ? '' : String(outcome);
  showAnswer();
}

function showAnswer() {
  const { cause, outcome } = asked;
  const complete = cause !== null && outcome !== null && cause !== outcome;
  const found = complete ? answerOf.get(cause + ' ' + outcome) : undefined;
  const lit = new Set(found ? found.on : []);
  toggle(svg, 'asking', lit.size > 0);
  edgeGroups.forEach((group, index) => toggle(group, 'lit', lit.has(index)));
  const box = control('ask-answer');
  box.hidden = !complete;
  if (complete) box.replaceChildren(...answerLines(cause, outcome).map((text, k) => paragraph(text, k ? 'p' : 'h3')));
}

// What the panel on a link says and offers beside its weight.
function questionsOf(edge) {
  const parts = suspected(edge) ? [paragraph(HIDDEN_CAUSE)] : [];
  const ways = edge.line ? [[edge.s, edge.t], [edge.t, edge.s]] : [[edge.s, edge.t]];
  if (data.effects.answered) {
    ways.sort((a, b) => a[0] - b[0]).forEach(([x, y]) => parts.push(paragraph(answerLines(x, y)[0])));
  }
  const buttons = document.createElement('p');
  buttons.className = 'mark-buttons';
  const both = [[edge.s, edge.t], [edge.t, edge.s]].sort((a, b) => a[0] - b[0]);
  both.forEach(([x, y]) => ['required', 'forbidden'].forEach((kind) => buttons.append(markButton(x, y, kind))));
  return parts.concat(buttons);
}

function markText(x, y, kind) {
  const link = nodes[x].label + ' → ' + nodes[y].label;
  return kind === 'required' ? 'I know ' + link : link + ' is impossible';
}

function markButton(x, y, kind) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = markText(x, y, kind);
  const key = x + ' ' + y;
  button.setAttribute('aria-pressed', String(marks.get(key) === kind));
  button.addEventListener('click', () => {
    if (marks.get(key) === kind) marks.delete(key);
    else {
      marks.set(key, kind);
      // Both directions cannot be true at once.
      if (kind === 'required' && marks.get(y + ' ' + x) === 'required') marks.delete(y + ' ' + x);
    }
    showMarks();
    showPanel();
  });
  return button;
}

function showMarks() {
  control('marks-part').hidden = marks.size === 0;
  control('marks').replaceChildren(...[...marks].map(([key, kind]) => {
    const [x, y] = key.split(' ').map(Number);
    return paragraph(markText(x, y, kind), 'li');
  }));
  control('marks-command').textContent = data.effects.command;
}

// A TOML basic string is a JSON string, but for DEL.
function tomlText(text) {
  return JSON.stringify(text).replace(/\u007f/g, '\\u007f');
}

function knowledgeToml() {
  const known = data.effects.knowledge;
  const pairs = { required: known.required.slice(), forbidden: known.forbidden.slice() };
  marks.forEach((kind, key) => pairs[kind].push(key.split(' ').map((index) => nodes[Number(index)].name)));
  const row = (list) => '[' + list.map(tomlText).join(', ') + ']';
  const table = (name, rows) => name + ' = [' + rows.map((list) => '\n  ' + row(list) + ',').join('') + '\n]\n';
  let text = '';
  if (known.max_parents !== null) text += 'max_parents = ' + known.max_parents + '\n';
  ['required', 'forbidden'].forEach((name) => { if (pairs[name].length) text += table(name, pairs[name]); });
  if (known.tiers.length) text += table('tiers', known.tiers);
  return text;
}

function saveKnowledge() {
  offer(new Blob([knowledgeToml()], { type: 'application/toml' }), 'knowledge.toml');
}
