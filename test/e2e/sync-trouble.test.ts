/**
 * Sources that cannot be read: each is `failing` with a code and advice, keeps its documents, is
 * tried again later each time, and recovers.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import { failures, type OpenOptions, open } from '../../src/index.ts';
import { isFailureCode } from '../../src/kernel/failure/failure.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { killedPlaces } from '../support/sync-places.ts';
import { documentsOf, syncNow } from '../support/sync-scene.ts';
import { startSite } from '../support/sync-site.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';

const corpus = 'docs';
const name = 'followed';

/** A process without a schedule of its own: the test begins every run. */
async function setup(t: TestContext, opening: OpenOptions = {}) {
  const clock = { aheadMs: 0 };
  const world = { ...realWorld(), now: () => Date.now() + clock.aheadMs, random: () => 1 };
  const pawl = await open({ data: join(temporaryDirectory(t), 'store'), world, ...opening });
  t.after(() => pawl.close());
  const session = sessionOf(pawl);
  const source = () => pawl.source(name);
  /** How long the schedule waits after a run that begins now. */
  const waitAfterRun = async () => {
    const run = await pawl.runSource(name);
    const [row] = await session.store.run<{ next_at: number; updated_at: number }>(
      { text: 'SELECT next_at, updated_at FROM sync_sources' },
      {},
    );
    return { run, waitMs: Number(row?.next_at) - Number(row?.updated_at) };
  };
  return { pawl, source, waitAfterRun, clock };
}

function isAdvised(error: { readonly code: string; readonly advice: string } | null): boolean {
  assert.ok(error && isFailureCode(error.code), JSON.stringify(error));
  return error.advice === failures[error.code].advice && error.advice !== '';
}

describe('a source that cannot be read', () => {
  for (const makePlace of killedPlaces) {
    test(`is failing, waits longer each time, and recovers: ${makePlace.name}`, async (t) => {
      const place = await makePlace(t);
      for (const key of ['a.md', 'b.md']) place.write(key, `# ${key}\n\nThe heron of ${key}.\n`);
      const { pawl, source, waitAfterRun } = await setup(t, place.opening);
      const { kind, location, options } = place;
      await pawl.addSource({ corpus, name, kind, location, ...options });
      await syncNow(pawl, name);
      await pawl.updateSource(name, { schedule: '0 0 1 1 *' });
      const before = await documentsOf(pawl, corpus, 'none');
      place.lose();
      const waits: number[] = [];
      for (let run = 0; run < 4; run += 1) {
        const { run: ended, waitMs } = await waitAfterRun();
        assert.equal(ended.state, 'failed');
        assert.ok(isAdvised(ended.error));
        waits.push(waitMs);
      }
      const { retryMsMin, retryMsMax } = limits.sync;
      const isLonger = (ms: number, index: number): boolean => ms > (waits[index - 1] ?? 0);
      assert.ok(waits.every(isLonger), `${waits}`);
      assert.ok((waits[0] ?? 0) >= retryMsMin && (waits[3] ?? 0) <= retryMsMax, `${waits}`);
      const failing = await source();
      assert.equal(failing.state, 'failing');
      assert.ok(isAdvised(failing.error));
      assert.deepEqual(await documentsOf(pawl, corpus, 'none'), before);
      place.find();
      assert.equal((await pawl.runSource(name)).state, 'succeeded');
      const well = await source();
      assert.deepEqual([well.state, well.error], ['active', null]);
      assert.deepEqual(await documentsOf(pawl, corpus, 'none'), before);
    });
  }

  test('has no feed, or no sitemap, at its address', async (t) => {
    const site = await startSite(t, { '/feed.xml': 'Sold out.', '/sitemap.xml': '<html></html>' });
    const { pawl, source } = await setup(t, { allowHosts: [site.host] });
    for (const [kind, path] of [
      ['feed', 'feed.xml'],
      ['site', 'sitemap.xml'],
    ] as const) {
      await pawl.addSource({ corpus, name, kind, location: `${site.origin}/${path}` });
      assert.equal((await pawl.runSource(name)).state, 'failed');
      const { state, error } = await source();
      assert.deepEqual([state, error?.code], ['failing', 'bad_response']);
      assert.ok(isAdvised(error));
      await pawl.removeSource(name);
    }
  });

  test('has a certificate that nobody trusts', async (t) => {
    const { origin, host } = await startTls(t);
    const { pawl, source } = await setup(t, { allowHosts: [host] });
    const kinds = [
      ['feed', `${origin}/feed.xml`, 'failed'],
      ['site', `${origin}/`, 'failed'],
      ['git', `${origin}/a.git`, 'failed'],
      ['urls', `${origin}/a`, 'partial'],
    ] as const;
    for (const [kind, location, ending] of kinds) {
      await pawl.addSource({ corpus, name, kind, location });
      assert.equal((await pawl.runSource(name)).state, ending, kind);
      const { state, error } = await source();
      assert.deepEqual([state, error?.code], ['failing', 'certificate_invalid'], kind);
      assert.ok(isAdvised(error));
      await pawl.removeSource(name);
    }
  });
});

async function startTls(t: Cleanup) {
  const fixture = (file: string) =>
    readFileSync(new URL(`../../src/pipeline/fetch/fixture/${file}`, import.meta.url));
  const tls = { key: fixture('self-signed.key.pem'), cert: fixture('self-signed.pem') };
  const server = createServer(tls, (_, response) => response.end('hello'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin: `https://${host}`, host };
}
