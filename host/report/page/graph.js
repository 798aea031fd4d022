// Who waits for whom: what is drawn, and where. Nothing here needs a page.

const mostNodes = 60;
const mostEdges = 300;

/** "" where there is one job. */
const jobKey = (analysis, job) => (Object.keys(object(own(analysis, 'by_job'))).length > 1 ? String(job ?? '') : '');

/** The ranks of the core and those that wait behind it, each as "JOB/RANK". */
function roles(analysis) {
  const byJob = object(own(analysis, 'by_job'));
  const jobs = Object.keys(byJob).length > 1 ? Object.entries(byJob) : [['', analysis]];
  const set = key => new Set(jobs.flatMap(([job, verdict]) => numbers(own(verdict, key)).map(rank => `${job}/${rank}`)));
  return {core: set('core'), blocked: set('blocked')};
}

/**
 * Nodes {ranks, job, words, place, core, any} and edges {from, to, core}. Ranks that wait alike for the same are one node; a wait for any of
 * several ranks has a node of its own between. null: there is nothing to draw; {tooLarge}: too much.
 */
function waitGraph(analysis) {
  const {core} = roles(analysis);
  const nodes = [];
  const nodeOf = new Map(); // "JOB/RANK" to node
  const alike = new Map();
  const edges = new Map();
  const waits = list(own(analysis, 'waits')).map(object);
  const byRank = new Map();
  for (const wait of waits) {
    const key = `${jobKey(analysis, wait.job_id)}/${whole(wait.rank)}`;
    if (!byRank.has(key))
      byRank.set(key, []);
    byRank.get(key).push(wait);
  }
  const add = node => nodes.push({core: false, any: false, ranks: [], words: '', place: '', ...node}) - 1;
  for (const [key, mine] of byRank) {
    const what = mine.map(wait => [wait.because, wait.place, wait.mode, wait.for, wait.elsewhere]);
    const same = JSON.stringify([key.slice(0, key.lastIndexOf('/')), core.has(key), what]);
    if (!alike.has(same))
      alike.set(same, add({job: mine[0].job_id, words: mine.map(wait => shown(wait.because, 200)).join('; '), place: shown(mine[0].place, 80),
                           core: core.has(key), waits: mine}));
    nodes[alike.get(same)].ranks.push(mine[0].rank);
    nodeOf.set(key, alike.get(same));
    if (nodes.length > 4 * mostNodes)
      return {tooLarge: true};
  }
  const target = (job, rank) => {
    const key = `${jobKey(analysis, job)}/${rank}`;
    if (!nodeOf.has(key))
      nodeOf.set(key, add({job, ranks: [rank], core: core.has(key)}));
    return nodeOf.get(key);
  };
  const connect = (from, to) => edges.set(`${from} ${to}`, {from, to, core: nodes[from].core && nodes[to].core});
  for (let at = 0, all = nodes.length; at < all; ++at)
    for (const wait of nodes[at].waits ?? []) {
      const own = numbers(wait.for, 4 * mostNodes).map(rank => [wait.job_id, rank]);
      const elsewhere = list(wait.elsewhere).map(object).flatMap(({job_id, ranks}) => numbers(ranks, 4 * mostNodes).map(rank => [job_id, rank]));
      const others = [...own, ...elsewhere];
      const any = wait.mode === 'or' && others.length > 1;
      const from = any ? add({any: true, job: wait.job_id, core: nodes[at].core}) : at;
      if (any)
        connect(at, from);
      for (const [job, rank] of others)
        connect(from, target(job, rank));
      if (nodes.length > 2 * mostNodes || edges.size > 4 * mostEdges)
        return {tooLarge: true};
    }
  if (edges.size === 0)
    return null;
  return nodes.length > mostNodes || edges.size > mostEdges ? {tooLarge: true} : {nodes, edges: [...edges.values()]};
}

/** Gives each node a layer (a wait leads to a later one, where no cycle is in the way) and a place in it. */
function layOut({nodes, edges}) {
  const next = nodes.map(() => []);
  for (const {from, to} of edges)
    next[from].push(to);
  const state = nodes.map(() => 0); // 1: on the way, 2: done
  const order = [];
  const back = new Set();
  const visit = node => {
    state[node] = 1;
    for (const to of next[node]) {
      if (state[to] === 1)
        back.add(`${node} ${to}`);
      else if (state[to] === 0)
        visit(to);
    }
    state[node] = 2;
    order.unshift(node);
  };
  // Those that nobody waits for come first.
  const waited = new Set(edges.map(edge => edge.to));
  nodes.map((_, i) => i).sort((a, b) => waited.has(a) - waited.has(b) || a - b).forEach(node => state[node] === 0 && visit(node));
  const layer = nodes.map(() => 0);
  for (const node of order)
    for (const to of next[node])
      if (!back.has(`${node} ${to}`))
        layer[to] = Math.max(layer[to], layer[node] + 1);
  const layers = [];
  order.forEach(node => (layers[layer[node]] ??= []).push(node));
  for (const row of layers.slice(1)) { // below the middle of those that wait for it
    const middle = node => {
      const above = edges.filter(edge => edge.to === node && layer[edge.from] < layer[node]).map(edge => layers[layer[edge.from]].indexOf(edge.from));
      return above.length ? above.reduce((a, b) => a + b) / above.length : 0;
    };
    const where = new Map(row.map(node => [node, middle(node)]));
    row.sort((a, b) => where.get(a) - where.get(b) || a - b);
  }
  return {layer, layers, isBack: ({from, to}) => layer[to] <= layer[from]};
}
