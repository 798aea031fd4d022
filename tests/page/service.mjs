// service.mjs LINK JOB MODULES [SCREENSHOT]
//
// Drives the service's page in a browser, and says what is wrong, a line each. LINK leads in; JOB is the name of a job that hangs and that
// the service knows, not looked at yet; MODULES: the folder in which npm has installed package.json. RESTART of the environment: a file
// that it makes when the service is to be killed and started again.

import {readFileSync, writeFileSync} from 'node:fs';
import {close, expect, open_browser} from './driver.mjs';

const [link, job, modules, screenshot] = process.argv.slice(2);
const {browser, page, accessible} = await open_browser(modules, url => url.startsWith(new URL(link).origin) || url === 'data:,');
const text = selector => page.$eval(selector, one => one.textContent).catch(() => null);
const until = (what, test, ...given) => page.waitForFunction(test, {timeout: 30000}, ...given).catch(() => expect(what, false));
const card = `article[aria-label="job ${job}"]`;

await page.setViewport({width: 1000, height: 700});
await page.goto(link);
await page.waitForSelector(card, {timeout: 30000}).catch(() => expect('the job is shown', false));
expect('the key stays in the address', page.url().includes('key='), false);
await page.focus(`${card} button`);
await page.keyboard.press('Enter'); // Look now
await until('it looks', selector => /looking|deadlock/.test(document.querySelector(`${selector} .state`).textContent), card);
await until('its verdict', selector => /^deadlock \(certain\), unchanged since/.test(document.querySelector(`${selector} .state`).textContent), card);
await until('its history', selector => document.querySelectorAll(`${selector} .history button`).length === 1, card);
expect('what to look at', /MPI_Recv/.test(await text(`${card} .look li`)));
await page.click(`${card} button`);
await until('its second look', selector => document.querySelectorAll(`${selector} .history button`).length === 2, card);
await page.click(`${card} .history li:first-child button`);
expect('the chosen one', await page.$eval(`${card} .history li:first-child button`, one => one.getAttribute('aria-pressed')), 'true');
if (process.env.RESTART) { // somebody kills the service, and starts it again
  writeFileSync(process.env.RESTART, '');
  await until('the connection is lost', () => document.querySelector('#link').textContent.startsWith('no connection'));
  await until('the connection is there again', () => document.querySelector('#link').textContent === '');
  for (let looks = 3; looks <= 10; ++looks) {
    await until('Look now', selector => !document.querySelector(`${selector} button`).disabled, card);
    await page.click(`${card} button`);
    await until(`look ${looks}`, (selector, wanted) => document.querySelectorAll(`${selector} .history button`).length === wanted, card, looks);
  }
  const changes = await page.$$eval(`${card} .look a`, all => all.map(one => one.textContent));
  expect('the links of a look', changes, ['Report', 'Text', 'JSON']); // of the first one, which is still the chosen one
  await page.click(`${card} .history li:last-child button`);
  const link = await page.$$eval(`${card} .look a`, all => all.find(one => one.textContent.startsWith('Changes'))?.href);
  const compared = await browser.newPage();
  expect('what has changed', (await (await compared.goto(link)).text()).includes('DEADLOCK (certain)'));
  await compared.close();
}
await accessible('light');
await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: 'dark'}]);
await accessible('dark');
await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: 'light'}]);
await page.click('#find');
await until('the jobs of the host', () => document.querySelector('#found').textContent !== 'looking for jobs');
if (screenshot)
  await page.screenshot({path: screenshot});
await page.setViewport({width: 400, height: 800});
expect('wider than a phone', await page.evaluate(() => document.documentElement.scrollWidth), 400);
if (screenshot)
  await page.screenshot({path: screenshot.replace('.png', '-phone.png')});
const report = await page.$eval(`${card} .look a`, one => one.href);
const other = await browser.newPage();
other.on('pageerror', error => expect('an error of the report', error.message, undefined));
await other.goto(report);
await other.waitForSelector('h1, p.error');
expect('the report', await other.$eval('h1', one => one.textContent), 'DEADLOCK (certain)');
const again = await browser.createBrowserContext();
const stranger = await again.newPage();
expect('a link used twice', (await stranger.goto(link)).status(), 401);
await close(browser);
