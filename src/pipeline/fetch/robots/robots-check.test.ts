import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limits } from '../../../kernel/limits/limits.ts';
import type { Fetcher } from '../http/http.ts';
import { RobotsCheck } from './robots-check.ts';

const now = 1_000_000_000_000;
const site = 'https://site.example';

/** A request to a site fails the test. */
const noFetcher: Fetcher = {
  get: async () => assert.fail('a site was requested'),
};

function checkOf(body: string, ageMs = 0): RobotsCheck {
  return new RobotsCheck({
    fetcher: noFetcher,
    signal: new AbortController().signal,
    now,
    stored: async (origin) =>
      origin === site ? { origin, fetched_at: now - ageMs, status: 200, body } : undefined,
  });
}

const pagesOf = (...paths: readonly string[]) => paths.map((path) => ({ url: `${site}${path}` }));

describe('the links of a page that may be read', () => {
  const rules = 'User-agent: *\nDisallow: /private\nAllow: /private/but';

  test('are those that no rule forbids', async () => {
    const found = pagesOf('/a', '/private/b', '/private/but');
    assert.deepEqual(await checkOf(rules).allowedOf(found), pagesOf('/a', '/private/but'));
  });

  test('are all of them if the rules of a site are unknown or old', async () => {
    const elsewhere = [{ url: 'https://other.example/private' }];
    assert.deepEqual(await checkOf(rules).allowedOf(elsewhere), elsewhere);
    const found = pagesOf('/private/b');
    assert.deepEqual(await checkOf(rules, limits.fetch.robotsTtlMs).allowedOf(found), found);
  });

  test('are checked within a time limit: beyond it, the last ones pass', async () => {
    const filler = `Disallow: /${'x'.repeat(limits.fetch.robotsBytesMax / 2)}\n`;
    const robots = `User-agent: *\n${filler}Disallow: /private`;
    const compared = Math.floor(limits.fetch.robotsComparedMax / (filler.length + 10));
    const found = Array.from({ length: 2 * compared }, (_, at) => `/private/${at}`);
    const passed = await checkOf(robots).allowedOf(pagesOf(...found));
    assert.ok(passed.length > 0 && passed.length <= compared, String(passed.length));
    assert.equal(passed.at(-1)?.url, `${site}${found.at(-1)}`);
  });
});
