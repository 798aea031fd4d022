// What the scripts that drive a page in a browser have in common.

import {createRequire} from 'node:module';
import {readFileSync} from 'node:fs';
import path from 'node:path';

let failures = 0;

/** Prints what is wrong, a line each. */
export function expect(what, seen, wanted = true) {
  if (JSON.stringify(seen) === JSON.stringify(wanted))
    return;
  ++failures;
  console.log(`${what}: ${JSON.stringify(seen)?.slice(0, 400)}, not ${JSON.stringify(wanted)?.slice(0, 400)}`);
}

/**
 * A browser with a page, of which errors and loads that `may_load(url)` does not allow are wrong. MODULES: the folder in which npm has
 * installed package.json.
 */
export async function open_browser(modules, may_load) {
  const require = createRequire(path.join(modules, 'node_modules/'));
  const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  const browser = await require('puppeteer-core').launch(
    {executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']});
  const page = await browser.newPage();
  page.on('pageerror', error => expect('an error of the page', error.message, undefined));
  page.on('request', request => may_load(request.url()) || expect('something is loaded', request.url(), undefined));
  const accessible = async what => {
    const found = await page.evaluate(async source => {
      (0, eval)(source); // by the browser's own tool, which no policy binds
      return (await axe.run(document, {resultTypes: ['violations']})).violations.map(each => `${each.id}: ${each.nodes[0].html.slice(0, 200)}`);
    }, axe).catch(error => [error.message]);
    expect(`axe-core, ${what}`, found, []);
  };
  return {browser, page, accessible};
}

/** Ends the script; its status says whether anything was wrong. */
export async function close(browser) {
  await browser.close();
  process.exit(failures ? 1 : 0);
}
