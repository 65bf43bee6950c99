/** Keys in the workbench: required, refused, accepted; and the page while Membership is down. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { policy } from '../../src/http/workbench.ts';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { type Access, localAccess } from '../../src/service/access.ts';
import { openBench } from './api-client.ts';
import { findViolations, launchBrowser, openView } from './web-browser.ts';

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

function keyed(state: { isAway: boolean }): Access {
  const local = localAccess();
  return {
    ...local,
    authenticate: async (key) => {
      if (state.isAway) throw new Failure('membership_unavailable', 'Membership does not answer');
      if (key === 'sesame') return local.authenticate(key);
      throw new Failure('unauthorized', 'this key is not known');
    },
  };
}

describe('a service with keys', () => {
  test('asks for a key, refuses a wrong one, and continues with a valid one', async (t) => {
    const { service } = await openBench(t, { access: keyed({ isAway: false }) });
    const { page, complaints } = await openView(t, { browser, address: service.address });
    await page.goto(service.address);
    await page.getByRole('heading', { name: 'API key required' }).waitFor();
    await page.getByLabel('API key').fill('simsalabim');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'This key was refused' }).waitFor();
    assert.deepEqual(await findViolations(page), []);
    await page.getByLabel('API key').fill('sesame');
    await page.keyboard.press('Enter');
    await page.getByText('Three steps to a first result').waitFor();
    await page.locator('[data-connection="live"]').waitFor();
    assert.equal(await page.evaluate('localStorage.length'), 0);
    await page.reload();
    await page.getByText('Three steps to a first result').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('shows that Membership is down, and recovers when it is back', async (t) => {
    const state = { isAway: true };
    const { service } = await openBench(t, { access: keyed(state) });
    const { page } = await openView(t, { browser, address: service.address });
    await page.addInitScript('sessionStorage.setItem("pawl.key", "sesame")');
    await page.goto(service.address);
    await page.getByText('membership_unavailable').first().waitFor();
    assert.equal(await page.getByLabel('API key').count(), 0);
    state.isAway = false;
    await page.locator('[data-connection="live"]').waitFor();
    await page.getByText('Three steps to a first result').waitFor();
  });
});

describe('the files of the workbench', () => {
  test('are compressed, have a strict policy, and are requested once', async (t) => {
    const { service } = await openBench(t);
    const index = await fetch(service.address);
    assert.equal(index.headers.get('content-security-policy'), policy);
    assert.doesNotMatch(policy, /unsafe/);
    const [, asset = ''] = /src="\.(\/assets\/[^"]+\.js)"/.exec(await index.text()) ?? [];
    const script = await fetch(`${service.address}${asset}`);
    assert.equal(script.headers.get('content-type'), 'text/javascript; charset=utf-8');
    assert.equal(script.headers.get('content-encoding'), 'gzip');
    assert.match(script.headers.get('cache-control') ?? '', /immutable/);
    const tag = index.headers.get('etag') ?? '';
    const again = await fetch(service.address, { headers: { 'if-none-match': tag } });
    assert.equal(again.status, 304);
    const beyond = await fetch(`${service.address}/assets/..%2f..%2fpackage.json`);
    assert.equal(beyond.status, 404);
  });
});
