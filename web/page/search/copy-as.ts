/** The current search as a command, as a tool call, and as a program. */
import type { SearchBody } from './request.ts';

export interface CopyOptions {
  /** The address of the service. */
  readonly address: string;
  readonly hasKey: boolean;
}

export const forms = ['curl', 'mcp', 'code'] as const;
export type Form = (typeof forms)[number];

export function writtenAs(form: Form, body: SearchBody, options: CopyOptions): string {
  switch (form) {
    case 'curl':
      return curlOf(body, options);
    case 'mcp':
      return toolCallOf(body);
    case 'code':
      return codeOf(body);
  }
}

/** For a POSIX shell. The key stays in a variable. */
function curlOf(body: SearchBody, { address, hasKey }: CopyOptions): string {
  return [
    `curl -s '${address}/v1/search'`,
    ...(hasKey ? ['-H "X-API-Key: $PAWL_KEY"'] : []),
    "-H 'content-type: application/json'",
    `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
  ].join(' \\\n  ');
}

function toolCallOf(body: SearchBody): string {
  const call = { method: 'tools/call', params: { name: 'search', arguments: body } };
  return JSON.stringify(call, null, 2);
}

function codeOf({ corpus_name, corpus_names, query, ...rest }: SearchBody): string {
  const names = corpus_names ?? [corpus_name ?? ''];
  const options = Object.keys(rest).length === 0 ? '' : `, ${JSON.stringify(camel(rest), null, 2)}`;
  const searches = names.map(
    (name) => `await pawl.search(${JSON.stringify(name)}, ${JSON.stringify(query)}${options})`,
  );
  const [only = ''] = searches;
  return [
    "import { open } from 'pawl';",
    '',
    'await using pawl = await open();',
    ...(searches.length === 1
      ? [`const hits = ${only};`]
      : ['const hits = [', ...searches.map((one) => `  ...(${one}),`), '];']),
    'for (const hit of hits) console.log(hit.relevance, hit.title, hit.text);',
  ].join('\n');
}

/** The names that the library has for the fields. What is in `where` belongs to the user. */
function camel(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      name === 'where' ? each : camel(each),
    ]),
  );
}
