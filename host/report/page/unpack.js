'use strict';
// The document of a report, and its values as text. Nothing here needs a page: tests load it without one.
// A document may be damaged, or made to do harm: what is not of its type counts as not there.

const list = value => (Array.isArray(value) ? value : []);
const object = value => (value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {});
const own = (value, key) => (Object.prototype.hasOwnProperty.call(Object(value), key) ? value[key] : undefined);
const whole = value => (Number.isInteger(value) ? value : undefined);

/** A document, with numbers that are too long for JavaScript as they stand there, where the browser can. */
function parsed(text) {
  if (!JSON.rawJSON || !/\d{16}/.test(text))
    return JSON.parse(text);
  return JSON.parse(text, (key, value, {source}) =>
    (typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? JSON.rawJSON(source) : value));
}

function copy(value) {
  if (Array.isArray(value))
    return value.map(copy);
  if (value === null || typeof value !== 'object' || JSON.isRawJSON?.(value))
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copy(member)]));
}

/** Text that shows what it is: characters that would hide, move or reorder others are written out. Long text is cut. */
function shown(value, most = 400) {
  if (value === undefined || value === null)
    return '';
  const text = typeof value === 'object' ? JSON.stringify(value).slice(0, 2 * most) : String(value);
  const cut = text.length > most ? text.slice(0, most).replace(/[\ud800-\udbff]$/, '') : text;
  const visible = cut.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, letter => {
    const code = letter.codePointAt(0).toString(16);
    return code.length > 2 ? `\\u{${code}}` : `\\x${code.padStart(2, '0')}`;
  });
  return text.length > most ? `${visible}… (${text.length.toLocaleString('en')} characters: in the JSON)` : visible;
}

/** The numbers of the schema's runs [first, last, step]; at most so many. */
function numbers(runs, most = 100000) {
  const all = [];
  for (const run of list(runs)) {
    const [first, last, step] = list(run).map(whole);
    if (first === undefined || last === undefined || !step || (last - first) / step < 0)
      continue;
    for (let i = 0; i <= Math.floor((last - first) / step) && all.length < most; ++i)
      all.push(first + i * step);
  }
  return all;
}

/** How many these are. */
const count = runs => list(runs).map(list).filter(([first, last, step]) => Number.isInteger(first) && Number.isInteger(last) && step && (last - first) / step >= 0)
  .reduce((sum, [first, last, step]) => sum + Math.floor((last - first) / step) + 1, 0);

/** "0-3,7"; the start of a long list. */
function ranges(sorted, most = 12) {
  const parts = [];
  for (let i = 0; i < sorted.length;) {
    let end = i;
    while (end + 1 < sorted.length && sorted[end + 1] === sorted[end] + 1)
      ++end;
    parts.push(end > i ? `${sorted[i]}-${sorted[end]}` : `${sorted[i]}`);
    i = end + 1;
  }
  return parts.length > most ? `${parts.slice(0, most).join(',')} and more` : parts.join(',');
}

/** One kind of equal ranks (PackedRanks). Values are read without unfolding a rank. */
class Kind {
  constructor(packed) {
    this.template = object(own(packed, 'template'));
    this.indices = list(own(packed, 'indices')).filter(Number.isInteger);
    this.columns = new Map();
    for (const column of list(own(packed, 'columns')).map(object))
      this.columns.set(JSON.stringify(list(column.path)), {path: list(column.path), values: list(column.values)});
  }

  /** What reads this value of a member: one search of the path for all of them. */
  reader(...path) {
    const column = this.columns.get(JSON.stringify(path));
    if (column)
      return member => column.values[member];
    const value = path.reduce((at, key) => own(at, key), this.template);
    return () => value;
  }

  /** The same for all ranks of the kind, whatever is below it? */
  alike(...path) {
    const start = JSON.stringify(path).slice(0, -1);
    return ![...this.columns.keys()].some(key => key.startsWith(start));
  }

  rank(member) {
    const rank = copy(this.template);
    for (const {path, values} of this.columns.values()) {
      const last = path[path.length - 1];
      const at = path.slice(0, -1).reduce((above, key) => own(above, key), rank);
      if (at !== null && typeof at === 'object' && own(at, last) !== undefined)
        at[last] = values[member];
    }
    return rank;
  }
}

/** All ranks in the document's order: {kind, member}. */
function places(kinds) {
  const all = [];
  for (const kind of kinds)
    kind.indices.forEach((index, member) => {
      if (index >= 0 && index < 10000000)
        all[index] = {kind, member};
    });
  return all.filter(place => place !== undefined);
}

/** The document as `--format json` writes it. */
function original(packed) {
  const ranksOf = kinds => places(list(kinds).map(kind => new Kind(kind))).map(({kind, member}) => {
    const rank = kind.rank(member);
    delete rank.view;
    return rank;
  });
  const ranks = ['ranks', ranksOf(own(packed, 'kinds'))];
  const looks = list(own(packed, 'earlier'));
  const members = Object.entries(object(own(packed, 'document'))).map(([key, value]) => [key, key === 'earlier' && Array.isArray(value)
    ? value.map((look, i) => ({...object(look), ranks: ranksOf(looks[i])})) : value]);
  const job = members.findIndex(([key]) => key === 'job');
  members.splice(job < 0 ? members.length : job + 1, 0, ranks);
  return Object.fromEntries(members);
}
