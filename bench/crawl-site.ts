/**
 * The site for the crawl benchmark, in its own process: a tree of pages, each with ten links and
 * about sixty words. Prints its port. Ends with its parent.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const words = 'quince harmonium lantern orchard meadow ripple ember cobalt willow saddle'.split(
  ' ',
);
const pages = Number(process.argv[2]);
const branches = 10;

const server = createServer((request, response) => {
  const number =
    request.url === '/' ? 0 : Number(/^\/(\d+)$/.exec(request.url ?? '')?.[1] ?? 'NaN');
  if (!(number < pages)) response.writeHead(404).end();
  else response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(pageOf(number));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.stdin.resume().once('end', () => process.exit(0));

function pageOf(number: number): string {
  const links: string[] = [];
  for (let branch = 1; branch <= branches; branch += 1) {
    const child = branches * number + branch;
    if (child < pages) links.push(`<li><a href="/${child}">page ${child}</a></li>`);
  }
  const text = Array.from({ length: 60 }, (_, at) => words[(number * 7 + at * at) % words.length]);
  const body = `<h1>Page ${number}</h1><p>This is page ${number}: ${text.join(' ')}.</p>`;
  const head = `<!doctype html><title>Page ${number}</title>`;
  return `${head}<main>${body}</main><ul>${links.join('')}</ul>`;
}
