/** A call as a command line: curl with the example of the manual. */
import type { Route } from '../operation/row.ts';
import type { Manual } from './manual.ts';

/** The shell variables hold the address of the service, and the key. */
export function curlOf(name: string, route: Route, example: Manual): string {
  const [method = 'GET', path = ''] = name.split(' ');
  const filled = path.replace(/:(\w+)/g, (_, parameter: string) =>
    encodeURIComponent(example.params?.[parameter] ?? parameter),
  );
  const query = new URLSearchParams(
    Object.entries(example.query ?? {}).map(([key, value]): [string, string] => [
      key,
      String(value),
    ]),
  );
  const address = `"$PAWL/v1${filled}${query.size > 0 ? `?${query}` : ''}"`;
  return [
    `curl -s${route.media === 'text/event-stream' ? 'N' : ''}`,
    ...(method === 'GET' || (method === 'POST' && hasContent(example)) ? [] : [`-X ${method}`]),
    address,
    ...(route.isOpen ? [] : ['-H "X-API-Key: $PAWL_KEY"']),
    ...Object.entries(example.headers ?? {}).map(
      ([key, value]) => `-H ${quoted(`${key}: ${value}`)}`,
    ),
    ...contentOf(example),
  ].join(' \\\n  ');
}

function hasContent({ body, form }: Manual): boolean {
  return body !== undefined || form !== undefined;
}

function contentOf({ body, form }: Manual): string[] {
  if (body !== undefined) {
    return [`-H 'content-type: application/json'`, `-d ${quoted(JSON.stringify(body))}`];
  }
  return Object.entries(form ?? {}).map(([field, value]) =>
    field === 'file' ? '-F file=@welcome.pdf' : `-F ${quoted(`${field}=${String(value)}`)}`,
  );
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
