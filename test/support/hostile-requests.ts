/**
 * Hostile requests for every operation of the contract. Each starts as the example of the manual,
 * and one part of it is replaced: a field of the body, a parameter of the path or of the query, or
 * the body as a whole.
 */
import { contract, type RouteName } from '../../src/contract/contract.ts';
import { type Manual, manual } from '../../src/contract/manual/manual.ts';

export interface HostileRequest {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

const json = { 'content-type': 'application/json' };
const nested = (opening: string, closing: string, depth: number): string =>
  `${opening.repeat(depth)}1${closing.repeat(depth)}`;
const listed = (count: number, entry: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => entry(n)).join(',');

/** Nothing leaves this machine: this address is private, and is refused. */
const withoutHosts = (text: string): string =>
  text.replaceAll(/https?:\/\/[\w.:-]+/g, 'http://127.0.0.1:9');

/** What may stand where a value is expected, as JSON. */
export const smallValues: Readonly<Record<string, string>> = {
  null: 'null',
  true: 'true',
  'a number': '-1.5e300',
  'an integer beyond 2^53': '9007199254740993',
  'an empty text': '""',
  'a NUL': '"a\\u0000b"',
  'half a surrogate pair': '"a\\ud800"',
  'right to left': '"\\u202egnp.exe"',
  'a prototype name': '"__proto__"',
  'a path out': '"../../etc/passwd"',
  'a file address': '"file:///etc/passwd"',
  'a private address': '"http://169.254.169.254/latest/meta-data"',
  'a broken address': '"http://[::1"',
  'a template': '"{{7*7}}${7*7}%{7*7}"',
  'a quote and a comment': '"\'; DROP TABLE jobs; --"',
  'an escape sequence': '"\\u001b[2J\\u0007"',
  'a list': '[]',
  'a list of null': '[null]',
  'an object': '{}',
  'an object of prototype names':
    '{"constructor":{"prototype":{}},"toString":1,"hasOwnProperty":1}',
  'an object twice the same name': '{"a":1,"a":"b"}',
  'deep lists': nested('[', ']', 50),
  'deep objects': nested('{"a":', '}', 50),
  'a function name': '"toString"',
};

/** The same, but long: each is near what a body may have. */
export const largeValues: Readonly<Record<string, () => string>> = {
  'a long text': () => `"${'x'.repeat(8_000_000)}"`,
  'a long text of escapes': () => `"${'\\u0000'.repeat(1_000_000)}"`,
  'a long text of pairs': () => `"${'\\ud83d\\ude00'.repeat(500_000)}"`,
  'a long list of numbers': () => `[${listed(90_000, String)}]`,
  'a long list of texts': () => `[${listed(45_000, (n) => `"${n}${'y'.repeat(80)}"`)}]`,
  'a long list of objects': () => `[${listed(20_000, () => '{"a":1}')}]`,
  'an object of many names': () => `{${listed(40_000, (n) => `"n${n}":1`)}}`,
  'an object with a long name': () => `{"${'n'.repeat(8_000_000)}":1}`,
  'lists in lists': () => `[${listed(1000, () => nested('[', ']', 30))}]`,
};

/** Bodies as a whole. */
const wholeBodies: Readonly<Record<string, readonly [body: string | Uint8Array, type?: string]>> = {
  'no body': [''],
  'a body of null': ['null'],
  'a body that is a list': ['[]'],
  'a body that is a text': ['"x"'],
  'a body that is a number': ['1e999'],
  'a body that ends early': ['{"a":'],
  'two bodies': ['{}{}'],
  'a byte order mark': ['\ufeff{}'],
  'a body that is not UTF-8': [Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d)],
  'a body in UTF-16': [new Uint8Array(Buffer.from('{"a":1}', 'utf16le'))],
  'a poisoned prototype': ['{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"a":1}}}'],
  'a form for JSON': ['a=b&c=d', 'application/x-www-form-urlencoded'],
  'text for JSON': ['{}', 'text/plain'],
  'an odd charset': ['{}', 'application/json; charset=utf-7'],
  'a broken content type': ['{}', ';;;='],
  'multipart without a boundary': ['--b\r\n', 'multipart/form-data'],
};

/** Parts of a path, as they are sent. */
const pathParts: readonly string[] = [
  ...['%00', '%2e%2e%2f', '%ED%A0%80', '%25', '%', '__proto__', 'constructor', '%F0%9F%98%80'],
  ...['a'.repeat(500), '%20'.repeat(200), 'a%0d%0aX-A:%20b', '-1', '9'.repeat(15)],
];

const queryValues: readonly string[] = [
  ...['', '%00', '-1', '1e400', '99999999999999999999', 'NaN', '%ED%A0%80', '[]', '__proto__'],
  ...['a'.repeat(7000), '%25'.repeat(2000), `${'a,'.repeat(3000)}`],
];

/** A field of the body of a route. */
export interface Field {
  readonly name: RouteName;
  readonly path: readonly string[];
}

const allNames = Object.keys(contract) as RouteName[];
/** All fields of all bodies, down to two levels. */
export const fields: readonly Field[] = allNames.flatMap((name) => {
  const { body } = contract[name] as { body?: Described };
  const paths = Object.entries(body?.properties ?? {}).flatMap(([key, { properties = {} }]) => [
    [key],
    ...Object.keys(properties).map((inner) => [key, inner]),
  ]);
  return paths.map((path) => ({ name, path }));
});

/** The example of a route with this value, as JSON, in place of a field. */
export function withValue({ name, path }: Field, title: string, value: string): HostileRequest {
  const example = exampleOf(name).body as Record<string, unknown> | undefined;
  const [outer = '', inner] = path;
  const around = example?.[outer];
  const within = typeof around === 'object' && !Array.isArray(around) ? around : {};
  const placed = inner === undefined ? here : { ...within, [inner]: here };
  const text = withoutHosts(JSON.stringify({ ...example, [outer]: placed }));
  const body = text.replace(JSON.stringify(here), () => value);
  return { ...requestOf(name), title: `${name} with ${title} as ${path.join('.')}`, body };
}

const here = '{here}';

/** All requests with another body, another path or another query. */
export function* misshapenRequests(): Generator<HostileRequest> {
  for (const name of allNames) {
    for (const [title, [body, type]] of Object.entries(wholeBodies)) {
      const headers = type === undefined ? json : { 'content-type': type };
      yield { ...requestOf(name), title: `${name} with ${title}`, headers, body };
    }
    if (name.includes(':')) {
      for (const part of pathParts) {
        const path = pathOf(name, () => part);
        yield { ...requestOf(name), title: `${name} at ${part.slice(0, 20)}`, path };
      }
    }
    for (const key of queryKeysOf(name)) {
      for (const value of queryValues) {
        const path = `${pathOf(name)}?${key}=${value}`;
        yield { ...requestOf(name), title: `${name}?${key}=${value.slice(0, 20)}`, path };
      }
    }
    const path = `${pathOf(name)}?${'a=b&'.repeat(3000)}`;
    yield { ...requestOf(name), title: `${name} with 3,000 parameters`, path };
  }
}

function requestOf(name: RouteName): Omit<HostileRequest, 'title'> {
  const [method = 'GET'] = name.split(' ');
  const { body } = exampleOf(name);
  const text = body === undefined ? undefined : withoutHosts(JSON.stringify(body));
  return { method, path: pathOf(name), headers: text === undefined ? {} : json, body: text };
}

function exampleOf(name: RouteName): Manual {
  return manual[name] as Manual;
}

function pathOf(name: RouteName, partOf?: () => string): string {
  const { params = {} } = exampleOf(name);
  const filled = (_: string, key: string): string =>
    partOf?.() ?? encodeURIComponent(params[key] ?? key);
  return (name.split(' ')[1] ?? '').replace(/:(\w+)/g, filled);
}

interface Described {
  readonly properties?: Readonly<Record<string, Described>>;
}

function queryKeysOf(name: RouteName): string[] {
  const { query } = contract[name] as { query?: Described };
  return Object.keys(query?.properties ?? {});
}
