// The page at /: the jobs, each with its state, its history, and the look that is chosen. What comes from the service becomes text.

const jobs = new Map();        // by name, as /v1/jobs has them
const revisions = new Map();   // by name, also of those that were removed
const cards = new Map();       // by name: the article of the job, and what is chosen in it
const place = document.getElementById('jobs');

const when = text => new Date(text).toLocaleString('en', {dateStyle: 'medium', timeStyle: 'medium', hour12: false});

function duration(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120)
    return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds / 3600)} hours`;
}

/** How a look is shown: its words, a sign that needs no colour, and a kind. */
function words_of(look) {
  if (!look)
    return {text: 'not looked at yet', sign: '', kind: ''};
  const verdict = look.analysis?.verdict;
  if (verdict === 'deadlock')
    return {text: `deadlock (${look.analysis.confidence})`, sign: '✕', kind: 'bad'};
  if (look.error)
    return {text: 'could not be looked at', sign: '!', kind: 'warning'};
  if (verdict === 'no_deadlock')
    return {text: 'no deadlock', sign: '✓', kind: 'good'};
  return {text: verdict ? verdict.replaceAll('_', ' ') : 'no verdict', sign: '?', kind: 'warning'};
}

function state_of(job) {
  if (job.state === 'looking')
    return {text: `looking: ${job.ranks_so_far} ranks so far`, kind: ''};
  if (job.state === 'waiting')
    return {text: 'waits for its turn', kind: ''};
  const words = words_of(job.last_look);
  if (!job.stuck_since || job.last_look?.analysis?.verdict !== 'deadlock')
    return words;
  // Between two looks a job may have moved, and come back: unless its deadlock is certain.
  const since = job.last_look?.analysis?.confidence === 'certain' ? 'unchanged' : 'seen so';
  return {text: `${words.text}, ${since} since ${when(job.stuck_since)}`, kind: words.kind};
}

async function ask(path, options = {}) {
  const response = await fetch(path, options);
  const body = response.status === 204 ? null : await response.json();
  if (!response.ok)
    throw new Error([body.detail, body.hint].filter(Boolean).join(' — '));
  return body;
}

function button(text, about, action) {
  const made = make('button', {type: 'button', text, ...about});
  made.addEventListener('click', action);
  return made;
}

const path_of = (name, ...rest) => `v1/jobs/${[name, ...rest].map(encodeURIComponent).join('/')}`;

function show_look(card, look, before) {
  for (const each of card.history.querySelectorAll('button'))
    each.setAttribute('aria-pressed', each.dataset.id === look.id);
  const ranks = look.ranks && `${look.ranks.total} ranks: ${look.ranks.ok} complete, ${look.ranks.partial} partial, ${look.ranks.failed} failed`;
  const held = look.stalled_ms !== null && `held for ${Math.round(look.stalled_ms)} ms`;
  const link = (text, ...rest) => make('a', {href: path_of(look.job, 'looks', look.id, ...rest.slice(0, 1)) + (rest[1] ?? ''), target: '_blank', rel: 'noopener', text});
  card.look.replaceChildren(
    make('p', {}, make('span', {kind: `state ${words_of(look).kind}`, text: words_of(look).text}), ` ${[when(look.taken_at), ranks, held].filter(Boolean).join('; ')}`),
    look.error ? make('p', {kind: 'error', text: look.error}) : '',
    make('ul', {}, ...(look.analysis?.look_at ?? []).map(text => make('li', {text: `look at ${text}`}))),
    make('p', {}, link('Report', 'report'), ' · ', link('Text', 'report', '?format=text'), ' · ', link('JSON', 'report', '?format=json'),
               ...(before ? [' · ', link('Changes since the look before', 'report', `?format=text&before=${encodeURIComponent(before.id)}`)] : [])));
}

async function show_history(card, name) {
  const {looks} = await ask(path_of(name, 'looks'));
  card.history.replaceChildren(...looks.slice(0, 60).map((look, at) => {
    const {text, sign, kind} = words_of(look);
    const label = `${when(look.taken_at)}: ${text}`;
    return make('li', {}, button(sign, {kind, title: label, 'aria-label': label, 'data-id': look.id}, () => { card.chosen = look.id; show_look(card, look, looks[at + 1]); }));
  }).reverse());
  const chosen = Math.max(0, looks.findIndex(look => look.id === card.chosen));
  if (looks.length > 0)
    show_look(card, looks[chosen], looks[chosen + 1]);
}

function card_of(name) {
  if (cards.has(name))
    return cards.get(name);
  const card = {
    article: make('article', {'aria-label': `job ${name}`}), state: make('span', {kind: 'state', role: 'status'}), about: make('span', {kind: 'soft'}),
    history: make('ul', {kind: 'history', 'aria-label': `looks at ${name}, the latest last`}), look: make('div', {kind: 'look'}),
    trouble: make('p', {kind: 'error', role: 'alert'}), looks: -1, last: null};
  const act = (path, method) => async () => {
    card.trouble.textContent = '';
    try {
      const now = await ask(path, {method});
      if (now)
        update(now);
    } catch (error) {
      card.trouble.textContent = error.message;
    }
  };
  card.start = button('Look now', {}, act(path_of(name, 'looks'), 'POST'));
  card.stop = button('Cancel the look', {}, act(path_of(name, 'look'), 'DELETE'));
  card.forget = button('Remove', {}, act(path_of(name), 'DELETE'));
  card.article.append(make('header', {}, make('h2', {text: name}), card.state, card.about), card.trouble,
                      make('div', {kind: 'bar'}, card.start, card.stop, card.forget), card.history, card.look);
  cards.set(name, card);
  const after = [...cards.keys()].filter(other => other > name && other !== name).sort()[0];
  place.insertBefore(card.article, after ? cards.get(after).article : null);
  return card;
}

/** A job's new state. */
function update(job) {
  if (job.revision < (revisions.get(job.name) ?? 0))
    return; // a later one was quicker
  revisions.set(job.name, job.revision);
  if (job.state === 'removed') {
    cards.get(job.name)?.article.remove();
    cards.delete(job.name);
    jobs.delete(job.name);
    return show_whether_empty();
  }
  jobs.set(job.name, job);
  const card = card_of(job.name);
  const {text, kind} = state_of(job);
  card.state.textContent = text;
  card.state.className = `state ${kind}`;
  const next = job.next_look_at && `next look ${when(job.next_look_at)}`;
  card.about.textContent = [job.options.join(' '), job.every_s && `every ${duration(job.every_s * 1000)}`, next].filter(Boolean).join('; ');
  card.trouble.textContent = job.error ?? '';
  const looks = job.state !== 'idle';
  card.start.disabled = looks;
  card.stop.hidden = !looks;
  card.forget.hidden = looks || job.is_configured;
  if (card.looks !== job.looks || card.last !== job.last_look?.id) {
    card.looks = job.looks;
    card.last = job.last_look?.id;
    show_history(card, job.name).catch(error => { card.trouble.textContent = error.message; });
  }
  show_whether_empty();
}

function show_whether_empty() {
  document.getElementById('none')?.remove();
  if (jobs.size === 0)
    place.append(make('p', {id: 'none', kind: 'soft', text: 'No job is known yet. Look for those of this host below, or name them in the configuration.'}));
}

async function find() {
  const list = document.getElementById('found');
  list.replaceChildren(make('li', {kind: 'soft', text: 'looking for jobs'}));
  try {
    const {jobs: all} = await ask('v1/found');
    list.replaceChildren(...all.map(job => {
      const [how, number] = job.arguments ?? [];
      const program = job.ranks[0]?.executable?.split('/').pop() ?? '';
      const item = make('li', {text: `${job.size ?? job.ranks.length} ranks of ${program} (${(job.arguments ?? []).join(' ')}) `});
      if (how === '--mpirun' || how === '--slurm')
        item.append(button('Add', {'aria-label': `Add ${program}, ${how} ${number}`}, async () => {
          try {
            const body = JSON.stringify({[how.slice(2)]: Number(number)});
            update(await ask('v1/jobs', {method: 'POST', headers: {'Content-Type': 'application/json'}, body}));
            item.remove();
          } catch (error) {
            item.append(make('span', {kind: 'error', text: ` ${error.message}`}));
          }
        }));
      return item;
    }));
    if (all.length === 0)
      list.replaceChildren(make('li', {kind: 'soft', text: 'no MPI job runs on this host'}));
  } catch (error) {
    list.replaceChildren(make('li', {kind: 'error', text: error.message}));
  }
}

function open() {
  const link = document.getElementById('link');
  const events = new EventSource('v1/events');
  events.addEventListener('open', () => { link.textContent = ''; link.className = 'soft'; });
  events.addEventListener('error', () => { link.textContent = 'no connection to the service; trying again'; link.className = 'error'; });
  events.addEventListener('jobs', event => {
    const all = JSON.parse(event.data);
    revisions.clear(); // of a service that was started again
    for (const name of [...jobs.keys()].filter(name => !all.some(job => job.name === name)))
      update({name, state: 'removed', revision: 0});
    all.forEach(update);
    show_whether_empty();
  });
  events.addEventListener('job', event => update(JSON.parse(event.data)));
  document.getElementById('find').addEventListener('click', find);
}

open();
