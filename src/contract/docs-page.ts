/** The contract as an HTML page: one file, without external resources. */
import { createHash } from 'node:crypto';
import { failures } from '../kernel/failure/failure.ts';
import { contract, type Route } from './contract.ts';
import { formHtml, keyHtml, script } from './docs-form.ts';
import { escaped } from './docs-text.ts';
import { curlOf } from './manual/curl.ts';
import { described, describeField, describeParameter, ownDescription } from './manual/describe.ts';
import { type Manual, manual } from './manual/manual.ts';

export interface DocsPage {
  readonly html: string;
  /** Allows the style and the script of this page, and calls to its own origin. */
  readonly policy: string;
}

const style = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 15%, transparent); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2.5rem; }
nav { display: flex; flex-wrap: wrap; gap: 0 1rem; }
details { border-bottom: 1px solid var(--line); padding: .4rem 0; }
details details { border: 0; }
summary { cursor: pointer; display: grid; grid-template-columns: 5rem 20rem 1fr; gap: .5rem; }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { border: 1px solid var(--line); border-radius: 4px; padding: .6rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--line); padding: .3rem .5rem .3rem 0; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
form { display: grid; gap: .4rem; max-width: 40rem; margin: .8rem 0; }
form[hidden] { display: none; }
label { display: grid; grid-template-columns: 10rem 1fr; gap: .5rem; }
label[hidden] { display: none; }
input, textarea, button { font: 13px/1.5 ui-monospace, monospace; padding: .3rem .5rem; }
button { justify-self: start; }
:target { outline: 2px solid; }
@media (max-width: 40rem) { summary { grid-template-columns: 4rem 1fr; } }
`;

export function docsPage(): DocsPage {
  const groups = [...new Set(Object.values(contract).map(({ group }) => group))];
  const html = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Pawl: HTTP API</title><style>${style}</style></head><body>`,
    '<h1>Pawl: HTTP API</h1>',
    '<p>JSON in and out. Errors are <code>application/problem+json</code> with a ',
    '<a href="#failures">code</a>. If API keys are configured, send yours as ',
    '<code>X-API-Key</code> or <code>Authorization: Bearer</code>. Machine-readable: ',
    '<a href="/openapi.json">openapi.json</a>.</p>',
    '<p>Each call has a command to copy. Set the address and the key of your service first:</p>',
    '<pre>PAWL=http://127.0.0.1:7300\nPAWL_KEY=YOUR_KEY</pre>',
    '<p>Or fill in the form of a call, and send it from this page.</p>',
    keyHtml,
    `<nav>${groups.map((name) => `<a href="#${name}">${name}</a>`).join('')}`,
    '<a href="#failures">Failures</a></nav>',
    ...groups.map(groupHtml),
    failuresHtml(),
    `<script>${script}</script></body></html>`,
  ].join('\n');
  const policy =
    `default-src 'none'; style-src '${hashOf(style)}'; script-src '${hashOf(script)}'; ` +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  return { html, policy };
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function groupHtml(group: string): string {
  const routes = Object.entries(contract).filter(([, route]) => route.group === group);
  const entries = routes.map(([name, route]) => routeHtml(name, route));
  return `<h2 id="${group}">${group}</h2>${entries.join('\n')}`;
}

function routeHtml(name: string, route: Route): string {
  const [method = '', path = ''] = name.split(' ');
  const summary = escaped(route.summary);
  const head = `<b>${method}</b><code>${escaped(path)}</code><span>${summary}</span>`;
  const codes = route.failures.map((code) => `<a href="#${code}"><code>${code}</code></a>`);
  const example = manual[name];
  const parts = [
    example ? exampleHtml(name, route, example) : '',
    parametersHtml(name, route),
    formHtml(name, route, example),
    schemaHtml('Body', described(route.body ?? route.form, name)),
    schemaHtml(`Response ${route.status}`, described(route.answer, name)),
    codes.length === 0 ? '' : `<p>May fail with ${codes.join(', ')}.</p>`,
  ];
  return `<details><summary>${head}</summary>${parts.join('')}</details>`;
}

/** What the call does, how to send it, and what comes back. */
function exampleHtml(name: string, route: Route, example: Manual): string {
  const { answer } = example;
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2);
  return (
    `<p>${prose(example.description)}</p><pre>${escaped(curlOf(name, route, example))}</pre>` +
    `<p>Responds with ${route.status}:</p><pre>${escaped(text)}</pre>`
  );
}

interface Fields {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

function parametersHtml(name: string, route: Route): string {
  const rows = (['params', 'query', 'headers'] as const).flatMap((part) => {
    const { properties = {}, required = [] } = (route[part] ?? {}) as Fields;
    return Object.entries(properties).map(([field, schema]) => {
      const known = part === 'params' ? describeParameter(name, field) : undefined;
      const text = ownDescription(schema) ?? known ?? describeField(field, name) ?? '';
      const need = part === 'params' || required.includes(field) ? 'required' : 'optional';
      const cells = [`<code>${escaped(field)}</code>`, need, prose(text)];
      return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
    });
  });
  return rows.length === 0 ? '' : `<table>${rows.join('')}</table>`;
}

/** Long, and rarely needed beside the example. */
function schemaHtml(title: string, schema: unknown): string {
  if (schema === undefined) return '';
  return `<details><summary>${title}, as JSON Schema</summary>${json(schema)}</details>`;
}

function failuresHtml(): string {
  const rows = Object.entries(failures).map(
    ([code, { httpStatus, title, advice }]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${httpStatus}</td>` +
      `<td>${escaped(title)}. ${escaped(advice)}</td></tr>`,
  );
  return (
    '<h2 id="failures">Failures</h2><table><tr><th>code</th><th>status</th><th>meaning and ' +
    `what to do</th></tr>${rows.join('\n')}</table>`
  );
}

function json(value: unknown): string {
  return `<pre>${escaped(JSON.stringify(value, null, 2))}</pre>`;
}

/** Text with code between backticks. */
function prose(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}
