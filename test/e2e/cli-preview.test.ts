/** `pawl extract` and `pawl chunk`: what would be indexed, without storing anything. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { failures } from '../../src/kernel/failure/failure.ts';
import { openRunner } from './pawl-process.ts';

const page = `<title>The dog</title><h1>The dog</h1><p>The <a href="/tree">dog</a> guards the
  quince tree, day after day, and the fox knows it well enough to keep away from the tree.</p>
  <ol><li>First it barks at the fox.</li><li>Then it bites the fox in the tail.</li></ol>
  <p>In the evening it sleeps under the tree, and nobody has ever seen it anywhere else.</p>`;

const talk = new URL('../samples/format/plain-talk.pptx', import.meta.url);

function linesOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function codeOf(line: Record<string, unknown> | undefined): string | undefined {
  return (line?.error as { code: string } | undefined)?.code;
}

/** A local site, and the setting that allows to fetch it. */
async function openSite(t: TestContext, listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const host = `127.0.0.1:${port}`;
  return { url: `http://${host}`, environment: { PAWL_ALLOW_HOSTS: host } };
}

describe('pawl extract', { concurrency: 2 }, () => {
  test('prints a line for each source, in order, and stores nothing', async (t) => {
    const place = openRunner(t);
    place.write('docs/a.md', '# The cat\n\nThe **cat** sleeps.');
    place.write('docs/dog.html', page);
    place.write('docs/empty.txt', '');
    place.write('z.txt', 'The walrus.');
    const sources = ['z.txt', 'docs', 'nowhere.md', './docs/*.html', '-'];
    const { code, stdout } = await place.run(['extract', ...sources, '--json'], {
      input: '<!doctype html><title>From a pipe</title><p>The parrot knows.',
    });
    assert.equal(code, 2);
    const lines = linesOf(stdout);
    assert.deepEqual(
      lines.map(({ source }) => source),
      ['z.txt', 'docs/a.md', 'docs/dog.html', 'docs/empty.txt', 'nowhere.md', '-'],
    );
    const [walrus, cat, dog, empty, missing, piped] = lines;
    assert.deepEqual(walrus, {
      source: 'z.txt',
      title: null,
      language: null,
      text: 'The walrus.',
      markdown: 'The walrus.',
      meta: {},
      kept_share: 1,
      warnings: [],
    });
    assert.deepEqual([cat?.title, cat?.text], ['The cat', 'The cat\n\nThe cat sleeps.']);
    assert.equal(dog?.title, 'The dog');
    assert.match(
      String(dog?.text),
      /^The dog\n\nThe dog guards .*\n\nFirst it barks [\w ]+\.\nThen it bites /s,
    );
    assert.match(
      String(dog?.markdown),
      /^# The dog\n.*\n1\. First it barks .*\n2\. Then it bites /s,
    );
    assert.deepEqual(empty?.error, {
      code: 'empty_source',
      message: `${join(place.folder, 'docs/empty.txt')} has no bytes`,
      advice: failures.empty_source.advice,
    });
    assert.equal(codeOf(missing), 'source_missing');
    assert.equal(piped?.title, 'From a pipe');
    assert.ok(!existsSync(join(place.folder, '.pawl')));
  });

  test('prints a page for people, and exits with 0', async (t) => {
    const place = openRunner(t);
    place.write('dog.html', page);
    const { code, stdout, stderr } = await place.run(['extract', 'dog.html']);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^The dog\ndog\.html\n\d+ words · en · kept_share 1\n\n# The dog\n\nThe/);
  });

  test('shows what it dropped from a page, and why', async (t) => {
    const place = openRunner(t);
    place.write('menu.html', `<nav><a href="/">Home</a></nav><main>${page}</main>`);
    const { code, stdout, stderr } = await place.run(['extract', 'menu.html', '--dropped']);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /\ndropped \(navigation\) {2}Home\n/);
    const { stdout: line } = await place.run(['extract', 'menu.html', '--dropped', '--json']);
    const [shown] = linesOf(line);
    assert.deepEqual(shown?.dropped, [{ reason: 'navigation', text: 'Home' }]);
    assert.equal(shown?.kept_share, 1);
  });

  test('reports what it could not read of a partly read file', async (t) => {
    const place = openRunner(t);
    place.write('events.ndjson', '{"a":"A heron."}\n{"a":\n');
    const { code, stdout, stderr } = await place.run(['extract', 'events.ndjson', '--dropped']);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /\ndropped \(invalid line\) {2}\{"a":\n/);
    assert.match(stderr, /^events\.ndjson: 1 of 2 lines was not read: not valid JSON\.$/m);
    assert.match(stderr, /^events\.ndjson: partly read: 50 % of the text was kept\./m);
    const [shown] = linesOf((await place.run(['extract', 'events.ndjson', '--json'])).stdout);
    assert.equal(shown?.kept_share, 0.5);
    assert.deepEqual(shown?.warnings, ['1 of 2 lines was not read: not valid JSON.']);
  });

  test('reports errors with advice, and exits with 2', async (t) => {
    const { code, stderr } = await openRunner(t).run(['extract', 'nowhere.md']);
    assert.equal(code, 2);
    assert.match(stderr, /no file or folder nowhere\.md \(source_missing\)\n +Check the path/);
    const place = openRunner(t);
    place.write('whole.json', '{"a": "A heron."}');
    place.write('cut.json', '{"a": ');
    const shown = await place.run(['extract', 'whole.json', 'cut.json']);
    assert.match(
      shown.stderr,
      /^failed {2}cut\.json: the JSON is cut off \(parse_error_strict\)$/m,
    );
  });

  test('without a source it is wrong usage', async (t) => {
    assert.equal((await openRunner(t).run(['extract'])).code, 64);
  });

  test('fetches like a job: it obeys robots.txt and refuses private addresses', async (t) => {
    const asked: string[] = [];
    const site = await openSite(t, ({ url = '' }, response) => {
      asked.push(url);
      if (url === '/robots.txt') response.end('User-agent: *\nDisallow: /private');
      else if (url === '/gone') response.writeHead(404).end();
      else response.setHeader('content-type', 'text/html').end(page);
    });
    const place = openRunner(t);
    const urls = ['/dog', '/private', '/gone'].map((path) => site.url + path);
    const { environment } = site;
    const { code, stdout } = await place.run(['extract', ...urls, '--json'], { environment });
    assert.equal(code, 2);
    const told = linesOf(stdout).map((line) => line.title ?? codeOf(line));
    assert.deepEqual(told, ['The dog', 'robots_disallowed', 'http_404']);
    assert.ok(!asked.includes('/private'));
    const refused = await place.run(['extract', `${site.url}/dog`, '--json']);
    assert.equal(codeOf(linesOf(refused.stdout)[0]), 'private_address');
  });

  test('Ctrl-C ends it with 130', async (t) => {
    let reached = (): void => undefined;
    const isReached = new Promise<void>((resolve) => {
      reached = resolve;
    });
    // It never answers.
    const site = await openSite(t, () => reached());
    const place = openRunner(t);
    const { environment } = site;
    const running = place.start(['extract', `${site.url}/dog`], { environment });
    await isReached;
    running.child.kill('SIGINT');
    assert.equal((await running.finished).code, 130);
  });
});

describe('pawl chunk', { concurrency: 2 }, () => {
  test('prints the chunks with their offsets, the same every time', async (t) => {
    const place = openRunner(t);
    place.write('a.md', '# Zoo\n\nThe walrus sleeps.\n\n## Cage\n\nA lantern.');
    place.write('broken.txt', Uint8Array.of(0, 1, 2));
    const first = await place.run(['chunk', 'a.md', 'broken.txt', '--json']);
    assert.equal(first.code, 2);
    const [zoo, broken] = linesOf(first.stdout);
    const chunks = zoo?.chunks as Record<string, unknown>[];
    assert.deepEqual(
      chunks.map(({ heading, text, start_offset, end_offset }) => [
        heading,
        text,
        [start_offset, end_offset],
      ]),
      [
        ['Zoo', '# Zoo\n\nThe walrus sleeps.', [0, 25]],
        ['Zoo > Cage', '## Cage\n\nA lantern.', [27, 46]],
      ],
    );
    for (const { chunk_id, tokens } of chunks) {
      assert.match(String(chunk_id), /^[0-9a-f]{24}$/);
      assert.ok(Number(tokens) > 0);
    }
    assert.match(codeOf(broken) ?? '', /^(?:unsupported_mime|binary_source)$/);
    const second = await place.run(['chunk', 'a.md', '--json']);
    assert.deepEqual(linesOf(second.stdout)[0], zoo);
  });

  test('prints chunks for people', async (t) => {
    const place = openRunner(t);
    place.write('a.md', '# Zoo\n\nThe walrus sleeps.');
    const { code, stdout } = await place.run(['chunk', 'a.md']);
    assert.equal(code, 0);
    assert.match(stdout, /#0 {2}Zoo {2}0–25 · \d+ tokens · [0-9a-f]{24}\n {2}# Zoo\n/);
    assert.match(stdout, /1 chunk · \d+ tokens/);
  });

  test('has the page of each chunk, and so have search results', async (t) => {
    const place = openRunner(t);
    place.write('talk.pptx', readFileSync(talk));
    const shown = await place.run(['chunk', 'talk.pptx']);
    assert.match(shown.stdout, /#1 {2}Slide 2 {2}60–\d+ · page 2 · \d+ tokens/);
    assert.doesNotMatch(shown.stdout, /page_starts/);
    const [told] = linesOf((await place.run(['chunk', 'talk.pptx', '--json'])).stdout);
    const chunks = told?.chunks as Record<string, unknown>[];
    assert.deepEqual(
      chunks.map(({ page }) => page),
      [1, 2],
    );
    assert.equal((await place.run(['ingest', 'talk.pptx', '--corpus', 'talks'])).code, 0);
    const found = await place.run(['search', 'talks', 'heron', '--mode', 'keyword']);
    assert.match(found.stdout, /talk\.pptx · page 2\n/);
  });
});
