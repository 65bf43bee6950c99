/** Hostile sites and files do not block the service for others. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chanceFrom } from '../chaos/chance.ts';
import { firstSeed } from '../support/first-seed.ts';
import { secondFiles } from '../support/hostile-files.ts';
import { files, type HostileSite, sites } from '../support/hostile-inputs.ts';
import { patience } from '../support/patience.ts';
import { until } from '../support/wait.ts';
import { serveWeb } from '../support/web-server.ts';
import { HostileScene } from './hostile-scene.ts';

const seed = firstSeed(import.meta.url);
/** Of each run, chosen by the seed. */
const secondFilesRead = 40;

let scene: HostileScene;
const ends: (() => unknown)[] = [];
const cleanup = { after: (run: () => unknown) => void ends.push(run) };
const hosts = new Map<string, string>();

async function serve(site: HostileSite): Promise<string> {
  const { host } = await serveWeb(cleanup, (request, response) => {
    const body = site.pages[request.url ?? ''];
    const isMoved = site.headers?.location !== undefined;
    response.writeHead(body === undefined ? 404 : isMoved ? 302 : 200, {
      'content-type': 'text/html',
      ...site.headers,
    });
    response.end(body);
  });
  return host;
}

before(async () => {
  for (const [name, site] of Object.entries(sites)) hosts.set(name, await serve(site));
  scene = await HostileScene.open(cleanup, [...hosts.values()]);
});

after(async () => {
  for (const end of ends.reverse()) await end();
});

describe('a service that reads hostile documents', () => {
  test('is not blocked by its first document', () =>
    scene.free('loading the vocabulary, the lexicon and the word vectors', async () => {
      // Short enough to be processed here, not in a thread.
      const text = '# Report\n\nInes Miller saw a heron at Lake Geneva.';
      const job = { corpus_name: 'ordinary', documents: [{ text }] };
      await scene.ended(await scene.post('/jobs', JSON.stringify(job)));
    }));

  test('does not delay ordinary documents behind hostile files', async (t) => {
    await scene.ingestOrdinary();
    const usualMs = await scene.ingestOrdinary();
    await scene.free('a file', async () => {
      for (const [name, body] of Object.entries(files)) {
        await scene.upload('hostile', name, body);
      }
      const tookMs = await scene.ingestOrdinary();
      // The absolute time depends on the machine; that it overtook earlier files does not.
      assert.equal(await scene.isIdle(), false, 'hostile files are still at work');
      t.diagnostic(`${Math.round(tookMs)} ms, and ${Math.round(usualMs)} ms alone`);
    });
  });

  for (const [title, site] of Object.entries<HostileSite>(sites)) {
    test(`is not blocked by a site with ${title}`, () =>
      scene.free(title, async () => {
        const url = `http://${hosts.get(title)}/`;
        const crawl = { url, depth: 1, limit: 20, include: site.include };
        const job = { corpus_name: 'hostile', crawl };
        await scene.ended(await scene.post('/jobs', JSON.stringify(job)));
      }));
  }

  test('finishes each hostile file', async () => {
    await until(() => scene.isIdle(), {
      what: 'all of them to end',
      patienceMs: patience.testMs,
      intervalMs: 500,
    });
  });

  test('finishes files of a second set, none as a defect of Pawl', () =>
    scene.free('a file of the second set', async () => {
      const { below } = chanceFrom(seed);
      const left = Object.keys(secondFiles);
      const chosen = Array.from({ length: secondFilesRead }, () =>
        left.splice(below(left.length), 1),
      ).flat();
      for (const name of chosen) await scene.upload('second', name, secondFiles[name]?.() ?? '');
      await until(() => scene.isIdle(), {
        what: 'all of them to end',
        patienceMs: patience.testMs,
        intervalMs: 500,
      });
      const codes = await scene.codesIn('second');
      const defects = ['internal_error', 'crashed_repeatedly'];
      assert.deepEqual(
        codes.filter((code) => defects.includes(code)),
        [],
        `of ${chosen.join(', ')}`,
      );
    }));

  test('exits on a signal', async () => {
    scene.started.child.kill('SIGTERM');
    assert.equal((await scene.started.finished).code, 0);
  });
});
