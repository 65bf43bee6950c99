/** The API page in a real browser: its forms send calls, under its own policy. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { openBench } from './api-client.ts';
import { slowDown } from './slow-pages.ts';
import { launchBrowser } from './web-browser.ts';

const key = 'a-key-that-is-long-enough';
const keys = { apiKeys: [`sha256:${createHash('sha256').update(key).digest('hex')}`] };

test('the forms of the API page send calls, and show what comes back as text', async (t) => {
  const { service, submit } = await openBench(t, { keys });
  const headers = { 'x-api-key': key };
  const documents = [{ id: 'note', text: 'The <b>heron</b> waits by the weir.' }];
  const id = await submit({ corpus_name: 'handbook', documents }, headers);
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await slowDown(page);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (said) => {
    if (/Content.Security.Policy/.test(said.text())) problems.push(said.text());
  });
  await page.goto(`${service.address}/docs`);
  const send = async (
    path: string,
    method: string,
    fill: Readonly<Record<string, string>>,
  ): Promise<string> => {
    const form = page.locator(`form[data-path="${path}"][data-method="${method}"]`);
    const shown = form.locator('pre');
    await page
      .locator('details', { has: form })
      .last()
      .evaluate((each) => {
        each.setAttribute('open', '');
      });
    for (const [name, value] of Object.entries(fill)) {
      await form.locator(`[name="${name}"]`).fill(value);
    }
    await form.locator('button').click();
    await form.locator('button:enabled').waitFor();
    return (await shown.textContent()) ?? '';
  };
  assert.match(await send('/corpora', 'GET', {}), /^401 /);
  await page.getByLabel('Key for calls from this page').fill(key);
  await (await fetch(`${service.address}/jobs/${id}/stream`, { headers })).text();
  assert.match(await send('/corpora', 'GET', {}), /"handbook"/);
  const job = await send('/jobs/:id/items', 'GET', { 'params.id': id, 'query.limit': '1' });
  assert.match(job, /^200 [\s\S]*"inline:note"/);
  const query = JSON.stringify({ corpus_name: 'handbook', query: 'heron' });
  assert.match(await send('/search', 'POST', { body: query }), /The <b>heron<\/b> waits/);
  assert.match(await send('/search', 'POST', { body: '{' }), /^400 /);
  const gone = await send('/corpora/:name', 'DELETE', { 'params.name': 'handbook' });
  assert.match(gone, /"deleted": 1/);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
  assert.deepEqual(problems, []);
  assert.deepEqual(await page.context().cookies(), []);
  assert.equal(await page.evaluate('localStorage.length'), 0);
});
