/** A form that sends a call from the API page, and the script of the page. */
import { escaped } from './docs-text.ts';
import type { Manual } from './manual/manual.ts';
import type { Route } from './operation/row.ts';

interface Fields {
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Streams and uploads are left to `curl`. */
export function formHtml(name: string, route: Route, example: Manual | undefined): string {
  if (route.media === 'text/event-stream' || route.takes || route.form) return '';
  const [method = '', path = ''] = name.split(' ');
  const inputs = (['params', 'query'] as const).flatMap((part) => {
    const { properties = {} } = (route[part] ?? {}) as Fields;
    const given: Readonly<Record<string, unknown>> = example?.[part] ?? {};
    return Object.keys(properties).map((field) => inputHtml(part, field, given[field]));
  });
  const body = JSON.stringify(example?.body ?? {}, null, 2);
  const area = `<textarea name="body" rows="6" spellcheck="false">${escaped(body)}</textarea>`;
  const text = route.body && `<label>body${area}</label>`;
  return (
    `<form hidden data-method="${method}" data-path="${escaped(path)}">${inputs.join('')}` +
    `${text ?? ''}<button>Send ${method}</button><pre hidden aria-live="polite"></pre></form>`
  );
}

/** An example of a parameter of the path is a value; of a query it is only a hint. */
function inputHtml(part: 'params' | 'query', field: string, example: unknown): string {
  const shown = example === undefined ? '' : escaped(String(example));
  const filled = part === 'params' ? `required placeholder="${shown}"` : `placeholder="${shown}"`;
  return `<label>${escaped(field)}<input name="${part}.${escaped(field)}" ${filled}></label>`;
}

/** The key stays in its field: it is in no address, no cookie and no storage. */
export const keyHtml =
  '<p><label id="key" hidden>Key for calls from this page' +
  '<input type="password" autocomplete="off"></label></p>';

/** Responses are shown as text, and never as HTML. */
export const script = `
const root = location.origin + location.pathname.replace(/(\\/v1)?\\/docs\\/?$/, '/v1');
const key = document.querySelector('#key');
const textMax = 100000;
key.hidden = false;
for (const form of document.forms) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form);
  });
}
async function send(form) {
  const out = form.querySelector('pre');
  const button = form.querySelector('button');
  const { method, path } = form.dataset;
  const given = [...new FormData(form)];
  const params = Object.fromEntries(given.filter(([name]) => name.startsWith('params.')));
  const valueOf = (name) => encodeURIComponent(params['params.' + name]);
  const filled = path.replace(/:(\\w+)/g, (_, name) => valueOf(name));
  const query = given.filter(([name, value]) => name.startsWith('query.') && value !== '');
  const search = new URLSearchParams(query.map(([name, value]) => [name.slice(6), value]));
  const body = given.find(([name]) => name === 'body');
  const headers = {};
  if (key.control.value) headers['X-API-Key'] = key.control.value;
  if (body) headers['content-type'] = 'application/json';
  out.hidden = false;
  out.textContent = 'Sent…';
  button.disabled = true;
  try {
    const address = root + filled + (search.size > 0 ? '?' + search : '');
    const response = await fetch(address, { method, headers, body: body && body[1] });
    const text = await response.text();
    out.textContent = response.status + ' ' + response.statusText + '\\n\\n' + shown(text);
  } catch (error) {
    out.textContent = 'No response: ' + error.message;
  } finally {
    button.disabled = false;
  }
}
function shown(text) {
  let pretty = text;
  try {
    pretty = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // It is not JSON: it is shown as it came.
  }
  return pretty.length > textMax ? pretty.slice(0, textMax) + '\\n…' : pretty;
}
`;
