// fuzz.mjs PAGE.html SECONDS
//
// Feeds damaged documents to the script of a report's page, in a worker thread: it may say what it cannot show, but throws nothing, and ends.
// What stands for the browser's page here keeps elements and no more.

import {readFileSync} from 'node:fs';
import vm from 'node:vm';
import {isMainThread, parentPort, Worker, workerData} from 'node:worker_threads';
import zlib from 'node:zlib';

class Element {
  constructor() {
    this.children = [];
    this.classList = {add() {}, remove() {}, toggle() {}, contains: () => false};
    this.value = '';
  }
  get childElementCount() { return this.children.length; }
  append(...children) { this.children.push(...children); }
  prepend(...children) { this.children.unshift(...children); }
  replaceChildren(...children) { this.children = children; }
  querySelector() { return new Element(); }
  querySelectorAll() { return []; }
  remove() {}
  setAttribute(name, value) { String(value); }
  addEventListener(event, listener) { if (event === 'toggle') { this.open = true; listener(); } }
  scrollIntoView() {}
  focus() {}
}

function work({script, packed, seed}) {
  let state = seed;
  const random = below => (state = (state * 1103515245 + 12345) % 2147483648) % below;
  const values = [null, true, -1, 0, 1e308, 2 ** 53, '', '<script>', '\u202e\0\ud800', 'x'.repeat(1e6), [], {}, [[0, 1e9, 1]], [[1, 0, 0]], [null],
                  {__proto__: null, length: 1e9}];
  const damaged = value => {
    if (value === null || typeof value !== 'object')
      return random(60) ? value : values[random(values.length)];
    if (!random(200))
      return values[random(values.length)];
    if (Array.isArray(value))
      return (random(100) ? value : [...value, ...value, ...value]).map(damaged);
    return Object.fromEntries(Object.entries(value).filter(() => random(100)).map(([key, member]) => [random(200) ? key : '__proto__', damaged(member)]));
  };
  const document = {createElement: () => new Element(), createElementNS: () => new Element(), getElementById: () => new Element(),
                    querySelectorAll: () => [], documentElement: new Element()};
  for (const hash of ['', '#rank-0', '#finding-1', '#%']) {
    const context = vm.createContext({document, location: {hash}, addEventListener() {}, packed: damaged(packed), Element});
    vm.runInContext(`${script}\nnew Report(packed).show(document.getElementById('page')); original(packed);`, context, {timeout: 20000});
  }
  parentPort.postMessage('done');
}

function fuzz(page, seconds) {
  const html = readFileSync(page, 'utf8');
  const packed = JSON.parse(zlib.gunzipSync(Buffer.from(html.match(/id="document">([^<]*)</)[1], 'base64')));
  const script = html.match(/<script>([^]*)open\(\);<\/script>/)[1];
  const end = Date.now() + 1000 * seconds;
  let done = 0;
  const next = seed => {
    if (Date.now() > end)
      return console.log(`${done} damaged documents`);
    const worker = new Worker(new URL(import.meta.url), {workerData: {script, packed, seed}, resourceLimits: {maxOldGenerationSizeMb: 1024}});
    worker.on('error', error => {
      console.log(`seed ${seed}: ${error.stack}`);
      process.exitCode = 1;
    });
    worker.on('exit', () => {
      ++done;
      if (!process.exitCode)
        next(seed + 1);
    });
  };
  next(1);
}

if (isMainThread)
  fuzz(process.argv[2], Number(process.argv[3]));
else
  work(workerData);
