/** The answer of a model on the search page: as it is written, with passages that open. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type ChatScript, saying, startChatServer } from '../support/chat-server.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';
import { corpus, documents, good } from './ask-scene.ts';
import { draw, findProblems, idle, launchBrowser, openView } from './web-browser.ts';

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

async function setup(t: Cleanup, script: ChatScript = saying(good)) {
  const server = await startChatServer(t, script);
  const prices = { input: 100, output: 1000 };
  const bench = await openBench(t, { answerer: { model: 'small', url: server.url, prices } });
  await bench.ended(await bench.submit({ corpus_name: corpus, documents }));
  const view = await openView(t, { browser, address: bench.service.address });
  return { server, bench, ...view };
}

const path = `/search?corpus=${corpus}&q=${encodeURIComponent('workshop refund money')}`;

describe('the answer pane', () => {
  test('shows each sentence as it is written, and its passages open', async (t) => {
    let finish = (): void => undefined;
    const { page, visit, complaints } = await setup(t, (_, stream) => {
      // A sentence is complete when the next one begins.
      const begun = good.indexOf('at nine');
      stream.text(good.slice(0, begun));
      finish = () => {
        stream.text(good.slice(begun));
        stream.end();
      };
    });
    await visit(path);
    await page.getByRole('button', { name: 'Answer with small' }).click();
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.getByText('Money is refunded within fourteen days').waitFor();
    assert.equal(await answer.getByText('It opens at nine').count(), 0);
    await answer.getByText(/^small reads \d+ passages…$/).waitFor();
    finish();
    await answer.getByText('It opens at nine').waitFor();
    await answer.getByText(/^\d+\.\d\d ¢$/).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'search-answer-light');
    const cited = answer.getByRole('list', { name: 'Cited passages' });
    await cited.getByRole('link', { name: 'Refunds' }).waitFor();
    await answer.getByRole('link', { name: '[1]', exact: true }).click();
    const reader = page.getByRole('tabpanel', { name: 'Reader' });
    await reader.locator('.chunk.chosen').getByText('refunds').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('ends the request when it is stopped, and asks again for other words', async (t) => {
    const { page, visit, server } = await setup(t, (_, stream) => stream.text('Money is '));
    await visit(path);
    await page.getByRole('button', { name: 'Answer with small' }).click();
    const call = await until(() => server.calls[0], { what: 'the request to the model' });
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('stopped', { exact: true }).waitFor();
    await call.closed;
    server.script = saying('It opens at nine [1].');
    await page.getByRole('searchbox', { name: 'What to search for' }).fill('workshop opens');
    await page.getByText('stopped', { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Answer with small' }).click();
    await page.getByRole('region', { name: 'Answer' }).getByText('It opens at nine').waitFor();
  });

  test('says why there is no answer', async (t) => {
    const { page, visit, server } = await setup(t, saying('The workshop is blue.'));
    await visit(path);
    await page.getByRole('button', { name: 'Answer with small' }).click();
    await page.getByText('No sentence names a passage').waitFor();
    server.script = (_, { response }) => void response.writeHead(401).end('{}');
    await page.getByRole('searchbox', { name: 'What to search for' }).fill('workshop closes');
    await page.getByRole('button', { name: 'Answer with small' }).click();
    await page.getByRole('alert').getByText('provider_auth').waitFor();
  });

  test('is absent without a model', async (t) => {
    const bench = await openBench(t);
    await bench.ended(await bench.submit({ corpus_name: corpus, documents }));
    const { page, visit } = await openView(t, { browser, address: bench.service.address });
    const asked = page.waitForResponse((response) => response.url().endsWith('/system'));
    await visit(path);
    await (await asked).finished();
    await page.locator('.hit').first().waitFor();
    await idle(page);
    assert.equal(await page.getByRole('button', { name: /^Answer/ }).count(), 0);
  });
});
