// Elements of the page. What comes from the document becomes text of an element, never markup.

function make(name, about = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(about))
    if (key === 'text')
      element.textContent = value;
    else if (value !== undefined && value !== false)
      element.setAttribute(key === 'kind' ? 'class' : key, value === true ? '' : value);
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

function draw(name, about, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(about))
    element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const clipped = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const section = (title, ...children) => make('section', {}, make('h2', {text: title}), ...children);

/** The elements of the first ones, and a line that says how many are left out. */
function some(all, most, element, name = 'li') {
  const elements = all.slice(0, most).map(element);
  if (all.length > most)
    elements.push(make(name, {kind: 'soft', text: `and ${(all.length - most).toLocaleString('en')} more: in the JSON`}));
  return elements;
}

/** A part that fails says so, and the others go on. */
function part(page, what, build) {
  try {
    const built = build();
    if (built)
      page.append(built);
  } catch (error) {
    page.append(make('p', {kind: 'error', text: `${what} could not be shown: ${shown(error.message ?? error)}. Save the JSON to see it.`}));
  }
}

function table(name, titles, rows) {
  return make('div', {kind: 'scroll', tabindex: '0', role: 'region', 'aria-label': name},
              make('table', {}, make('thead', {}, make('tr', {}, ...titles.map(text => make('th', {scope: 'col', text})))),
                   make('tbody', {}, ...rows.map(cells => make('tr', {}, ...cells.map(cell => make('td', {}, cell)))))));
}
