// check.mjs PAGE.html DOCUMENT.json OPERATIONS MILLISECONDS MODULES
//
// Drives a report's page in a browser, and says what is wrong, a line each. OPERATIONS: the lines of operations that the text report has
// of the same document; MILLISECONDS: the page is there and filtered within
// that time; MODULES: the folder in which npm has installed package.json.

import {mkdtempSync, existsSync, readFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {close, expect, open_browser} from './driver.mjs';

const [file, documentFile, operations, limit, modules] = process.argv.slice(2);
const document_ = JSON.parse(readFileSync(documentFile));
const few = document_.ranks.length <= 64;

const {browser, page, accessible} = await open_browser(modules, url => /^(file|data|blob|x):/.test(url));
const address = `file://${path.resolve(file)}`;
const texts = selector => page.$$eval(selector, all => all.map(one => one.textContent));
const width = () => page.evaluate(() => document.documentElement.scrollWidth);
const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

await page.setViewport({width: 1160, height: 900});
const begun = Date.now();
await page.goto(address);
await page.waitForSelector('h1, p.error');
await page.type('input[type=search]', '1');
await page.waitForFunction(() => document.querySelector('p[role=status]').textContent.includes(' of '), {timeout: 5000}).catch(() => {});
const took = Date.now() - begun;
if (took > Number(limit))
  expect(`open and filtered after ${took} ms`, false);

// What it says.
const analysis = document_.analysis;
const verdicts = {deadlock: 'DEADLOCK', no_deadlock: 'no deadlock', undecided: 'UNDECIDED'};
expect('the verdict', (await texts('h1'))[0], verdicts[analysis.verdict] + (analysis.confidence ? ` (${analysis.confidence})` : ''));
expect('findings', (await texts('li[id^=finding-]')).length, Math.min(1000, analysis.findings.length));
const jobs = new Set(document_.ranks.map(rank => rank.job_id ?? ''));
const cores = jobs.size > 1 ? Object.values(analysis.by_job).flatMap(job => job.core_ranks) : analysis.core_ranks;
const stuck = await page.$$eval('tr', rows => rows.filter(row => row.lastChild.textContent === 'can never go on').map(row => row.firstChild.textContent));
if (few)
  expect('ranks of the core', new Set(stuck).size, cores.length); // a line for each thread

expect('trees of stacks, one of each job', (await texts('h3')).length, jobs.size > 1 ? jobs.size : 0);
const stackless = document_.ranks.filter(rank => !rank.stacks?.some(stack => !stack.helper)).length;
expect('it says of whom there is no stack', (await texts('p.soft')).some(text => text.startsWith('not in the tree: ')), stackless > 0);

// Filters and links.
const only = document_.ranks.filter(rank => rank.rank === 1).length;
expect('ranks of the filter "1"', (await texts('p[role=status]'))[0], `${only} of ${document_.ranks.length.toLocaleString('en')} ranks`);
const name = document_.ranks.at(-1).blocked_in?.[0]?.function;
if (name && /^\w+$/.test(name)) {
  const having = document_.ranks.filter(rank => rank.stacks?.some(stack => !stack.helper && stack.frames.some(frame => frame.function?.includes(name)))).length;
  await page.$eval('input[type=search]', (search, text) => {
    search.value = text;
    search.dispatchEvent(new Event('input'));
  }, name);
  expect(`ranks of the filter "${name}"`, Number((await texts('p[role=status]'))[0].split(' ')[0].replaceAll(',', '')), having);
}
const first = jobs.size > 1 ? '#rank-1-0' : '#rank-0';
await page.evaluate(hash => { location.hash = hash; }, first);
await page.waitForSelector(`${first}[open] strong`, {timeout: 5000}).catch(() => expect(`${first} opens, whatever the filter is`, false));
expect('the rank that the link names is in sight', await page.$eval(first, rank => rank.getBoundingClientRect().top < innerHeight));
for (const place of ['#%', ...(analysis.findings.length ? ['#finding-1'] : []), first]) {
  const other = await browser.newPage();
  await other.setViewport({width: 800, height: 300});
  await other.goto(address + place);
  await other.waitForSelector('h1, p.error');
  expect(`the page at ${place}`, await other.$('h1') !== null);
  if (place !== '#%')
    expect(`${place} is in sight`, await other.$eval(place, element => {
      const {top} = element.getBoundingClientRect();
      return top > -2 && top < innerHeight; // pixels are whole, places are not
    }));
  await other.close();
}
if (few) {
  await page.evaluate(() => document.querySelectorAll('details').forEach(each => { each.open = true; }));
  await page.waitForFunction(() => [...document.querySelectorAll('.entry > div')].every(inside => inside.childElementCount > 0), {timeout: 10000});
  const rows = await page.$$eval('.entry .entry td:first-child, .entry td:first-child', cells => [...new Set(cells)].filter(cell =>
    /^(send|recv|unexp)$/.test(cell.textContent)).length);
  expect('operations', rows, Number(operations));
}

// The document is whole.
const downloads = mkdtempSync(path.join(tmpdir(), 'mqbridge-page-'));
const session = await browser.target().createCDPSession();
await session.send('Browser.setDownloadBehavior', {behavior: 'allow', downloadPath: downloads});
await page.$$eval('button', buttons => buttons.find(button => button.textContent === 'Save JSON').click());
const saved = path.join(downloads, 'mqbridge.json');
for (let tries = 0; tries < 300 && !existsSync(saved); ++tries)
  await new Promise(resolve => setTimeout(resolve, 100));
await new Promise(resolve => setTimeout(resolve, 300));
expect('the saved document is the document', existsSync(saved) && JSON.stringify(JSON.parse(readFileSync(saved))) === JSON.stringify(document_));

// Nothing runs but the page's own script.
const ran = await page.evaluate(async () => {
  const script = document.createElement('script');
  script.textContent = 'window.ran = 1';
  document.body.append(script);
  const image = document.createElement('div');
  image.innerHTML = '<img src="x:" onerror="window.ran = 2"><a href="javascript:window.ran = 3">x</a><style>body { color: rgb(1, 2, 3) }</style>';
  document.body.append(image);
  image.querySelector('a').click();
  await new Promise(resolve => setTimeout(resolve, 200));
  const color = getComputedStyle(document.body).color;
  image.remove();
  script.remove();
  return [window.ran ?? 'nothing', color === 'rgb(1, 2, 3)'];
});
expect('what the policy lets run', ran, ['nothing', false]);
expect('elements that a name of the document has made', await page.$$eval('main script, main img, main iframe, main [onload]', all => all.length), 0);

// Colours, widths, paper.
await accessible('light');
const light = await background();
await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: 'dark'}]);
expect('dark where the system is dark', await background() !== light);
await accessible('dark');
await page.$$eval('button', buttons => buttons.find(button => button.textContent === 'Dark or light').click());
expect('light again by the button', await background(), light);
await page.setViewport({width: 400, height: 800});
expect('no wider than 400 pixels', await width() <= 400);
await accessible('400 pixels');
expect('it prints', (await page.pdf({format: 'A4'})).length > 5000);
await close(browser);
