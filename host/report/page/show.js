// Shows the document, part by part.

const atOnce = 100; // ranks that are added to the page together

class Report {
  constructor(packed) {
    this.packed = packed;
    this.document = object(own(packed, 'document'));
    this.view = object(own(packed, 'view'));
    this.analysis = object(this.document.analysis);
    this.kinds = list(own(packed, 'kinds')).map(kind => new Kind(kind));
    for (const kind of this.kinds)
      kind.read = this.readers(kind);
    this.places = places(this.kinds);
    this.jobs = [...new Set(this.places.map(({kind, member}) => kind.read.job(member)).filter(job => typeof job === 'string'))];
    this.byId = new Map(this.places.map((place, index) => [this.idOf(place, index), place]));
    this.details = new Map(); // what shows a rank, by its id
    this.folds = new Map();   // the group of equal ranks that has it, by its id
  }

  // Names and links.

  id(job, rank) {
    const number = this.jobs.length > 1 ? this.jobs.indexOf(job) + 1 : 0;
    return number > 0 ? `rank-${number}-${rank}` : `rank-${rank}`;
  }
  idOf({kind, member}, index) {
    const rank = whole(kind.read.rank(member));
    return rank === undefined ? `process-${index}` : this.id(kind.read.job(member), rank);
  }
  link(job, rank) {
    const id = this.id(job ?? this.jobs[0], rank);
    return this.byId.has(id) ? make('a', {href: `#${id}`, text: String(rank)}) : String(rank);
  }
  links(job, runs, most = 16) {
    const all = make('span');
    numbers(runs, most).forEach((rank, i) => all.append(i ? ', ' : '', this.link(job, rank)));
    all.append(count(runs) > most ? ` and ${(count(runs) - most).toLocaleString('en')} more` : '');
    return all;
  }
  ofJob(job) {
    return this.jobs.length > 1 && job ? ` of job ${shown(String(job).split(':')[0])}` : '';
  }

  // Parts of the page, from above.

  top() {
    const {view, analysis} = this;
    const tone = ['bad', 'warning', 'good'].includes(view.tone) ? view.tone : 'warning';
    const seen = this.places.some(({kind, member}) => kind.read.state(member) !== 'failed');
    const verdict = view.verdict ? shown(view.verdict) : seen ? 'No verdict' : 'Nothing was seen';
    document.title = `${verdict} - mqbridge`;
    const lookAt = list(analysis.look_at);
    return make('header', {}, make('h1', {kind: tone, text: verdict}),
                view.more ? make('p', {text: shown(view.more).replace(/^: /, '')}) : null,
                lookAt.length ? make('p', {}, make('strong', {text: 'Look at'})) : null,
                lookAt.length ? make('ul', {}, ...some(lookAt, 50, text => make('li', {text: shown(text, 1000)}))) : null,
                make('p', {kind: 'soft', text: list(view.header).map(text => shown(text)).join('    ').trim().replace(/,? {2,}/g, ', ')}),
                ...list(view.filters).map(text => make('p', {kind: 'partial', text: shown(text)})),
                make('p', {kind: 'soft', text: `taken at ${shown(this.document.taken_at) || 'a time that is not known'}, by mqbridge ${
                  shown(object(this.document.tool).version)}`}),
                make('div', {kind: 'bar'}, this.saveButton(), this.themeButton()));
  }

  saveButton() {
    const button = make('button', {type: 'button', text: 'Save JSON'});
    button.addEventListener('click', () => {
      const url = URL.createObjectURL(new Blob([JSON.stringify(original(this.packed), null, 1)], {type: 'application/json'}));
      make('a', {href: url, download: 'mqbridge.json'}).click();
      setTimeout(() => URL.revokeObjectURL(url), 60000);
    });
    return button;
  }

  themeButton() {
    const button = make('button', {type: 'button', text: 'Dark or light'});
    button.addEventListener('click', () => {
      const root = document.documentElement;
      const isDark = root.classList.contains('dark') || (!root.classList.contains('light') && matchMedia('(prefers-color-scheme: dark)').matches);
      root.classList.toggle('dark', !isDark);
      root.classList.toggle('light', isDark);
    });
    return button;
  }

  waits() {
    const {core, blocked} = roles(this.analysis);
    const waits = list(this.analysis.waits).map(object);
    if (waits.length === 0)
      return null;
    const roleOf = wait => {
      const key = `${jobKey(this.analysis, wait.job_id)}/${whole(wait.rank)}`;
      return core.has(key) ? 'can never go on' : blocked.has(key) ? 'waits behind' : '';
    };
    const rows = waits.slice(0, 1000).map(wait => [
      make('span', {}, this.link(wait.job_id, whole(wait.rank) ?? '?'), this.ofJob(wait.job_id)), shown(wait.because, 500), shown(wait.place), roleOf(wait)]);
    const text = waits.length > rows.length ? `What ranks wait for (the first ${rows.length} of ${waits.length})` : 'What ranks wait for';
    return make('details', waits.length <= 12 ? {open: true} : {}, make('summary', {text}), table(text, ['RANK', 'WAITS IN', 'AT', 'VERDICT'], rows));
  }

  graph() {
    const graph = waitGraph(this.analysis);
    if (!graph)
      return null;
    if (graph.tooLarge)
      return section('Who waits for whom', make('p', {kind: 'soft', text: `More than ${mostNodes} ranks that differ: see the table.`}), this.waits());
    return section('Who waits for whom', make('div', {kind: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'wait-for graph'}, this.drawing(graph)),
                   make('p', {kind: 'soft', text: 'An arrow leads to who is waited for. A double frame: can never go on. "any": one of several is enough.'}),
                   this.waits());
  }

  drawing({nodes, edges}) {
    const {layer, layers, isBack} = layOut({nodes, edges});
    const wide = 216, high = 50, apart = 64, between = 18, margin = 14;
    const left = edges.some(isBack) ? 64 : margin;
    const x = node => left + layer[node] * (wide + apart);
    const y = node => margin + layers[layer[node]].indexOf(node) * (high + between);
    const bottom = Math.max(...nodes.map((_, i) => y(i))) + high;
    let below = bottom;
    const width = left + margin + layers.length * (wide + apart) - apart + 40;
    const path = edge => {
      const [fromY, toY] = [y(edge.from) + high / 2, y(edge.to) + high / 2];
      const [start, end] = [x(edge.from) + wide, x(edge.to) - 7];
      if (!isBack(edge))
        return `M${start} ${fromY} C${start + apart / 2} ${fromY} ${end - apart / 2} ${toY} ${end} ${toY}`;
      below += 14;
      return `M${start} ${fromY} C${start + 44} ${fromY} ${start + 30} ${below} ${start - 20} ${below} L${end + 20} ${below} C${end - 34} ${below} ${
        end - 40} ${toY} ${end} ${toY}`;
    };
    const lines = edges.map(edge => {
      const kind = edge.core ? ' core' : '';
      const [tipX, tipY] = [x(edge.to), y(edge.to) + high / 2];
      return draw('g', {'aria-hidden': 'true'}, draw('path', {class: `edge${kind}`, d: path(edge)}),
                  draw('path', {class: `tip${kind}`, d: `M${tipX} ${tipY} l-9 -5 l0 10 z`}));
    });
    const boxes = nodes.map((node, i) => this.node(node, x(i), y(i), wide, high));
    return draw('svg', {width, height: below + margin + 10, viewBox: `0 0 ${width} ${below + margin + 10}`, role: 'group', 'aria-label':
      'Who waits for whom: the table below has the same'}, ...lines, ...boxes);
  }

  node(node, x, y, wide, high) {
    const [middle, center] = [x + wide / 2, y + high / 2];
    if (node.any)
      return draw('g', {class: node.core ? 'core' : ''},
                  draw('path', {class: 'box', d: `M${x} ${center} L${middle} ${y + 4} L${x + wide} ${center} L${middle} ${y + high - 4} z`}),
                  draw('text', {x: middle, y: center + 4, 'text-anchor': 'middle'}, 'any'));
    const ranks = [...node.ranks].sort((a, b) => a - b);
    const name = `${ranks.length === 1 ? 'rank' : `${ranks.length} ranks:`} ${ranges(ranks, 4)}${this.ofJob(node.job)}`;
    const box = draw('a', {href: `#${this.id(node.job ?? this.jobs[0], ranks[0])}`, class: node.core ? 'core' : '',
                           'aria-label': `${name}${node.core ? ', can never go on' : ''}: ${node.words || this.unsaid(node) || 'waits for nobody that is known'}`},
                     draw('rect', {class: 'box', x, y, width: wide, height: high, rx: 5}),
                     draw('text', {x: x + 9, y: y + 17}, clipped(name, 31)),
                     draw('text', {x: x + 9, y: y + 31, class: 'soft'}, clipped(node.words || this.unsaid(node), 31)),
                     draw('text', {x: x + 9, y: y + 44, class: 'soft'}, clipped(node.place, 33)));
    if (node.core)
      box.append(draw('rect', {class: 'inner', x: x + 3, y: y + 3, width: wide - 6, height: high - 6, rx: 3}));
    return box;
  }

  /** Links to the ranks of a finding. Where it is about several jobs, its message alone says whose they are. */
  ranksOf(finding) {
    return this.jobs.length > 1 && String(finding.message).includes('(job ') ? []
      : [this.ofJob(finding.job_id), ' → ', this.links(finding.job_id, finding.ranks)];
  }

  /** Of a rank that waits for nobody. */
  unsaid(node) {
    return this.byId.has(this.id(node.job ?? this.jobs[0], node.ranks[0])) ? '' : 'not in this report';
  }

  findings() {
    const all = list(this.analysis.findings).map(object);
    if (all.length === 0)
      return null;
    const labels = object(this.view.labels);
    return section('Findings', make('ul', {}, ...some(all, 1000, (finding, i) => make(
      'li', {id: `finding-${i + 1}`}, make('strong', {text: shown(own(labels, String(finding.kind)) ?? finding.kind)}), ' ',
      make('span', {text: shown(finding.message, 1000)}), make('span', {kind: 'soft'}, ...this.ranksOf(finding))))));
  }

  unseen() {
    const all = list(this.analysis.not_visible);
    return all.length ? section('Not visible', make('p', {kind: 'soft', text: 'The verdict could not take this into account:'}),
                                make('ul', {}, ...some(all, 1000, text => make('li', {text: shown(text, 1000)})))) : null;
  }

  changes() {
    const lines = list(this.view.changes);
    return lines.length ? section('What moved', make('pre', {text: lines.map(line => shown(line, 1000)).join('\n')})) : null;
  }

  errors(errors) {
    const all = list(errors).map(object);
    return all.length ? make('ul', {}, ...some(all, 200, error => make(
      'li', {kind: error.level === 'warning' ? 'partial' : 'error'}, make('code', {text: shown(error.code)}), `: ${shown(error.message, 2000)}`,
      error.hint ? make('pre', {text: `fix: ${String(error.hint).split('\n').slice(0, 40).map(line => shown(line, 1000)).join('\n     ')}`}) : null))) : null;
  }

  errorsOfNoRank() {
    const errors = this.errors(this.document.errors);
    return errors ? section('Errors of no rank', errors) : null;
  }

  // Ranks.

  /** What of a rank stands in its line, and what filters ask for. */
  readers(kind) {
    const text = (most, ...path) => {
      const read = kind.reader(...path);
      const known = new Map();
      return member => {
        const value = read(member);
        if (!known.has(value))
          known.set(value, shown(value, most));
        return known.get(value);
      };
    };
    return {rank: kind.reader('rank'), job: kind.reader('job_id'), state: kind.reader('status'), name: text(100, 'view', 'name'),
            mpi: text(60, 'view', 'mpi'), counts: [0, 1, 2].map(i => text(60, 'view', 'counts', i)), status: text(80, 'view', 'status'),
            call: text(160, 'view', 'call'), place: text(60, 'view', 'place'), held: text(20, 'view', 'held'), pid: text(20, 'pid')};
  }

  cells({kind: {read}, member}) {
    return {name: read.name(member), mpi: read.mpi(member), counts: read.counts.map(count => count(member)), status: read.status(member),
            call: read.call(member), place: read.place(member), held: read.held(member), pid: read.pid(member)};
  }

  row(name, cells) {
    const number = (text, title) => make('span', {kind: 'number', 'data-title': title, text});
    return make('span', {kind: 'row'}, make('span', {kind: 'name', text: name}), make('span', {text: cells.place}), number(cells.counts[0], 'SEND'),
                number(cells.counts[1], 'RECV'), number(cells.counts[2], 'UNEXP'), make('span', {kind: 'wide', text: cells.status}),
                make('span', {kind: 'wide', text: cells.call}));
  }

  /** What shows one rank. It is filled when it is opened. */
  rank(place, index) {
    const id = this.idOf(place, index);
    const cells = this.cells(place);
    const inside = make('div');
    const shownRank = make('details', {id, kind: 'entry'}, make('summary', {}, this.row(cells.name, cells)), inside);
    shownRank.addEventListener('toggle', () => {
      if (shownRank.open && inside.childElementCount === 0)
        part(inside, 'This rank', () => this.insideOf(place, cells));
    });
    shownRank.open = this.places.length <= 8 && place.kind.read.state(place.member) === 'failed';
    this.details.set(id, shownRank);
    return shownRank;
  }

  insideOf(place, cells) {
    const rank = place.kind.rank(place.member);
    const view = object(rank.view);
    const facts = [cells.mpi, shown(view.platform), shown(rank.executable), cells.pid && `pid ${cells.pid}`, cells.held !== '-' && `held ${cells.held}`,
                   `target ${shown(rank.endpoint)}`, rank.dll ? `DLL ${shown(object(rank.dll).path)}` : ''];
    const all = make('div', {}, make('p', {kind: 'soft', text: facts.filter(Boolean).join('   ')}), this.errors(rank.errors));
    for (const communicator of list(view.communicators).map(object)) {
      const rows = list(communicator.rows);
      all.append(make('p', {}, make('strong', {text: shown(communicator.name)}), make('span', {kind: 'soft', text:
        `  ${list(communicator.facts).map(fact => shown(fact)).join(', ')}`})));
      if (rows.length)
        all.append(table(`${cells.name}, ${shown(communicator.name)}`, ['QUEUE', 'STATUS', 'PEER(local)', 'TAG', 'SIZE', 'BUFFER', 'NOTE'], rows.map(row => list(row).map(cell => shown(cell, 300)))));
      for (const line of list(communicator.lines))
        all.append(make('p', {text: shown(line, 1000)}));
    }
    for (const line of list(view.lines))
      all.append(make('p', {kind: 'soft', text: shown(line, 1000)}));
    if (view.no_stack)
      all.append(make('p', {kind: 'soft', text: `Call stack: ${shown(view.no_stack)}`}));
    for (const thread of list(view.threads).map(object))
      all.append(make('details', {open: !thread.helper}, make('summary', {text: `${shown(thread.name)}${thread.helper ? ', a helper of the MPI' : ''}`}),
                      make('div', {kind: 'calls'}, ...some(list(thread.calls), 500, call => make('div', {text: this.callText(call)}), 'div'))));
    return all;
  }

  callText(call) {
    const [name, file, line] = list(call);
    const place = file ? `  ${shown(file).split('/').pop()}${whole(line) > 0 ? `:${line}` : ''}` : '';
    return `${shown(name, 300) || '?'}${place}`;
  }

  /** Adds ranks to a list, some at once. Equal ranks are one line that unfolds. */
  addRanks(into, group) {
    let next = 0;
    const more = make('button', {type: 'button'});
    const add = () => {
      more.remove();
      for (const end = Math.min(next + atOnce, group.length); next < end; ++next)
        into.append(this.rank(...group[next]));
      if (next < group.length) {
        more.textContent = `${group.length - next} more`;
        into.append(more);
      }
    };
    more.addEventListener('click', add);
    add();
  }

  addGroup(into, group) {
    if (group.length === 1)
      return into.append(this.rank(...group[0]));
    const ranks = group.map(([place]) => whole(place.kind.read.rank(place.member))).filter(rank => rank !== undefined).sort((a, b) => a - b);
    const cells = this.cells(group[0][0]);
    const hosts = new Set(group.map(([place]) => place.kind.read.place(place.member)));
    const [{kind, member}] = group[0];
    const name = `${group.length.toLocaleString('en')} ranks${ranks.length ? `: ${ranges(ranks, 6)}` : ''}${this.ofJob(kind.read.job(member))}`;
    const inside = make('div');
    const folded = make('details', {kind: 'entry'}, make('summary', {}, this.row(name, {...cells, place: hosts.size > 1 ? `${hosts.size} hosts` : cells.place})), inside);
    const fill = () => inside.childElementCount || this.addRanks(inside, group);
    folded.addEventListener('toggle', () => folded.open && fill());
    for (const [place, index] of group)
      this.folds.set(this.idOf(place, index), {folded, inside, place, index, fill});
    into.append(folded);
  }

  fillRanks() {
    const [text, status, host] = [this.search.value.toLowerCase(), this.status.value, this.host.value];
    const number = /^(rank )?\d+$/.test(text.trim()) ? Number(text.replace('rank', '')) : undefined;
    const groups = new Map();
    let count = 0;
    this.places.forEach((place, index) => {
      const {kind, member} = place;
      const cells = this.cells(place);
      const matches = number !== undefined ? kind.read.rank(member) === number
        : Object.values(cells).flat().some(cell => cell.toLowerCase().includes(text)) || (kind.has ??= this.searcher(kind))(member, text);
      if (!matches || (status && kind.read.state(member) !== status) || (host && cells.place !== host))
        return;
      ++count;
      const same = this.places.length > 8 ? JSON.stringify([kind.read.job(member), cells.mpi, cells.counts, cells.status, cells.call]) : index;
      if (!groups.has(same))
        groups.set(same, []);
      groups.get(same).push([place, index]);
    });
    this.details.clear();
    this.folds = new Map();
    this.ranks.replaceChildren(make('div', {kind: 'titles'}, this.row('RANK', {place: 'HOST', counts: ['SEND', 'RECV', 'UNEXP'], status: 'STATUS', call: 'IN'})));
    const all = [...groups.values()];
    all.slice(0, 500).forEach(group => this.addGroup(this.ranks, group));
    if (all.length > 500)
      this.addRanks(this.ranks, all.slice(500).flat());
    const of = count === this.places.length ? '' : `${count.toLocaleString('en')} of `;
    this.counted.textContent = `${of}${this.places.length.toLocaleString('en')} ${this.places.length === 1 ? 'rank' : 'ranks'}`;
  }

  /** What tells whether names of a rank's communicators, functions and files have a text in them. */
  searcher(kind) {
    const view = object(kind.template.view);
    const paths = [...list(view.communicators).map((_, i) => ['communicators', i, 'name']),
                   ...list(view.threads).flatMap((thread, i) => list(object(thread).calls).flatMap((_, j) => [['threads', i, 'calls', j, 0],
                                                                                                             ['threads', i, 'calls', j, 1]]))];
    const readers = paths.map(path => kind.reader('view', ...path));
    const varying = readers.filter((_, i) => !kind.alike('view', ...paths[i]));
    const same = readers.filter(read => !varying.includes(read)).map(read => read(0)).join('\n').toLowerCase();
    return (member, text) => same.includes(text) || varying.some(read => String(read(member)).toLowerCase().includes(text));
  }

  ranksSection() {
    const distinct = what => [...new Set(this.places.map(({kind, member}) => kind.read[what](member)))].filter(value => typeof value === 'string').sort();
    const choice = values => make('select', {}, make('option', {value: '', text: 'all'}), ...values.slice(0, 1000).map(value => make('option', {value, text: shown(value, 60)})),
                                         values.length > 1000 ? make('option', {disabled: true, text: 'and more: by the search'}) : null);
    this.search = make('input', {type: 'search', autocomplete: 'off'});
    this.status = choice(distinct('state'));
    this.host = choice(distinct('place'));
    this.counted = make('p', {kind: 'soft', role: 'status'});
    this.ranks = make('div');
    for (const [element, event] of [[this.search, 'input'], [this.status, 'change'], [this.host, 'change']])
      element.addEventListener(event, () => this.fillRanks());
    this.fillRanks();
    return section('Ranks', make('div', {kind: 'bar'}, make('label', {}, 'Rank, call, function, communicator', this.search),
                                 make('label', {}, 'Status', this.status), make('label', {}, 'Host', this.host)), this.counted, this.ranks);
  }

  // Call stacks of all ranks, a tree for each job.

  stacks() {
    const jobs = new Map();
    for (const kind of this.kinds) {
      const alike = kind.alike('view', 'threads') && kind.alike('view', 'no_stack');
      const groups = new Map();
      kind.indices.forEach((_, member) => {
        const group = JSON.stringify([kind.read.job(member), alike ? 0 : member]);
        groups.has(group) ? groups.get(group).push(member) : groups.set(group, [member]);
      });
      for (const members of groups.values())
        this.addStacks(jobs, kind, members);
    }
    const trees = [...jobs].sort(([a], [b]) => this.jobs.indexOf(a) - this.jobs.indexOf(b)).map(([job, {root, without}]) => [
      this.jobs.length > 1 ? make('h3', {text: job ? `Ranks${this.ofJob(job)}` : 'Ranks of no job that is known'}) : null,
      make('div', {kind: 'calls'}, ...this.treeOf(root, 0)),
      ...[...without].map(([why, ranks]) => make('p', {kind: 'soft', text: `not in the tree: ${this.ranksText(ranks)}: ${shown(why)}`}))]);
    return trees.length ? section('Call stacks of all ranks', ...trees.flat()) : null;
  }

  /** Of equal ranks of one job. */
  addStacks(jobs, kind, members) {
    const job = kind.read.job(members[0]);
    if (!jobs.has(job))
      jobs.set(job, {root: {below: new Map()}, without: new Map()});
    const {root, without} = jobs.get(job);
    const view = object((members.length > 1 ? kind.template : kind.rank(members[0])).view);
    const ranks = members.map(kind.read.rank);
    for (const thread of list(view.threads).map(object).filter(({helper}) => !helper))
      this.addStack(root, list(thread.calls), ranks);
    if (view.no_stack)
      without.set(view.no_stack, (without.get(view.no_stack) ?? []).concat(ranks));
  }

  addStack(root, calls, ranks) {
    let at = root;
    for (const call of calls.length > 200 ? [...calls.slice(0, 199), [`... ${calls.length - 199} more calls`]] : calls) {
      const text = this.callText(call);
      if (!at.below.has(text))
        at.below.set(text, {text, ranks: [], below: new Map()});
      at = at.below.get(text);
      for (const rank of ranks)
        at.ranks.push(rank);
    }
  }

  ranksText(ranks) {
    const known = [...new Set(ranks.filter(Number.isInteger))].sort((a, b) => a - b);
    return `${ranks.length === 1 ? 'rank' : 'ranks'} ${ranges(known, 6) || '?'}`;
  }

  treeOf(node, depth) {
    return some([...node.below.values()], 200, call => {
      const name = `${call.text}`;
      const who = make('span', {kind: 'soft', text: `  ${call.ranks.length > 1 ? `${call.ranks.length} threads, ` : ''}${this.ranksText(call.ranks)}`});
      if (call.below.size === 0)
        return make('div', {kind: 'leaf'}, name, who);
      const inside = make('div');
      const branch = make('details', {open: depth < 60}, make('summary', {}, name, who), inside);
      inside.append(...this.treeOf(call, depth + 1));
      return branch;
    }, 'div');
  }

  // The place that the address names: #rank-3, #finding-2.

  follow() {
    const id = location.hash.slice(1);
    const rank = this.byId.has(id) ? this.reveal(id) : null;
    const place = rank ?? (/^finding-\d+$/.test(id) ? document.getElementById(id) : null);
    if (!place)
      return;
    document.querySelectorAll('.found').forEach(found => found.classList.remove('found'));
    place.classList.add('found');
    place.scrollIntoView({block: 'start'});
    const focused = rank ? rank.querySelector('summary') : place;
    focused.setAttribute('tabindex', rank ? '0' : '-1');
    focused.focus({preventScroll: true});
  }

  /** What shows the rank, opened. */
  reveal(id) {
    if (!this.details.has(id) && !this.folds.has(id)) { // filters are in the way
      [this.search.value, this.status.value, this.host.value] = ['', '', ''];
      this.fillRanks();
    }
    const fold = this.folds.get(id);
    if (fold) {
      fold.folded.open = true;
      fold.fill();
      if (!this.details.has(id))
        fold.inside.prepend(this.rank(fold.place, fold.index));
    }
    const details = this.details.get(id);
    if (details)
      details.open = true;
    return details ?? null;
  }

  show(page) {
    page.replaceChildren();
    part(page, 'The verdict', () => this.top());
    part(page, 'The graph', () => this.graph() ?? this.waits());
    part(page, 'The findings', () => this.findings());
    part(page, 'What moved', () => this.changes());
    part(page, 'What is not visible', () => this.unseen());
    part(page, 'Errors', () => this.errorsOfNoRank());
    part(page, 'The ranks', () => this.ranksSection());
    part(page, 'Call stacks', () => this.stacks());
    page.append(make('p', {kind: 'paper', text: 'Printed as it was on the screen: what was folded there is not on paper.'}));
    const follow = () => part(page, 'The place that the address names', () => this.follow());
    addEventListener('hashchange', follow);
    follow();
  }
}

async function open() {
  const page = document.getElementById('page');
  if (typeof DecompressionStream === 'undefined')
    return page.replaceChildren(make('p', {kind: 'error', text: 'This browser is too old to unpack the report (it has no DecompressionStream).'}));
  try {
    const bytes = Uint8Array.from(atob(document.getElementById('document').textContent.trim()), letter => letter.charCodeAt(0));
    const unzipped = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    new Report(parsed(await new Response(unzipped).text())).show(page);
  } catch (error) {
    page.replaceChildren(make('p', {kind: 'error', text: `The report cannot be read: ${shown(error.message)}. Was the file cut off?`}));
  }
}
