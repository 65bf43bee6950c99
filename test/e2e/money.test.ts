/** The cost of a provider as users see it: the commands, against a metered server. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { startOpenaiServer } from '../support/openai-server.ts';
import { openRunner } from './pawl-process.ts';

const key = 'sk-secret-of-the-test-0123456789';

async function setup(t: TestContext) {
  const server = await startOpenaiServer(t);
  const runner = openRunner(t);
  const environment = {
    PAWL_EMBEDDER: 'openai:metered-model@8',
    PAWL_EMBEDDER_URL: server.url,
    PAWL_EMBEDDER_KEY: key,
    // One cent per token.
    PAWL_EMBEDDER_PRICE: '1000000',
  };
  const run = (args: string, more: Record<string, string> = {}) =>
    runner.run(args.split(' '), { environment: { ...environment, ...more } });
  const read = async (args: string, more: Record<string, string> = {}) => {
    const { stdout, stderr } = await run(`${args} --json`, more);
    const line = stdout.trim().split('\n').at(-1) ?? '';
    assert.ok(line.startsWith('{'), `${stdout}\n${stderr}`);
    return JSON.parse(line) as Record<string, unknown>;
  };
  for (const name of ['one', 'two', 'three', 'four']) {
    runner.write(`docs/${name}.txt`, `This is document ${name} and it is about walruses.`);
  }
  return { server, runner, run, read };
}

describe('a paid provider', () => {
  test('is estimated before anything is paid or stored', async (t) => {
    const { server, runner, run, read } = await setup(t);
    const found = await read('ingest docs --corpus zoo --estimate');
    assert.equal(found.model, 'metered-model@8');
    const { least, likely, most } = found.cost_cents as Record<string, number>;
    assert.ok((likely ?? 0) > 30 && (likely ?? 0) < 60, JSON.stringify(found));
    assert.deepEqual([least, most], [likely, likely]);
    assert.deepEqual([found.files_read, found.sampled, found.unreadable], [4, false, 0]);
    assert.equal(server.requests.length, 0);
    assert.equal(existsSync(join(runner.folder, '.pawl')), false);
    await run('ingest docs/one.txt --corpus zoo');
    const second = await read('ingest docs --corpus other --estimate');
    assert.ok(Number(second.tokens_saved) >= 9, JSON.stringify(second));
    const web = await read(
      'ingest https://example.com/ --crawl --limit 50 --corpus zoo --estimate',
    );
    const pages = web.documents as Record<string, number>;
    assert.deepEqual([pages.least, pages.most], [1, 50]);
    const unknown = await read('ingest docs --corpus zoo --estimate', { PAWL_EMBEDDER_PRICE: '' });
    assert.equal(unknown.cost_cents, null);
  });

  test('pauses a job at its budget, says how to resume, and resumes', async (t) => {
    const { server, run, read } = await setup(t);
    const paused = await run('ingest docs --corpus zoo --budget-cents 25');
    assert.equal(paused.code, 1, paused.stderr);
    assert.match(paused.stdout, /paused: this job has reached its budget; \d of 4 documents done/);
    const [, id] = /pawl jobs resume (\w+) --budget-cents N/.exec(paused.stdout) ?? [];
    const shown = await read(`jobs show ${id}`);
    assert.deepEqual([shown.state, shown.pause_reason], ['paused', 'budget_reached']);
    assert.ok(Number(shown.cost_cents) <= 25, JSON.stringify(shown));
    const refused = await run(`jobs resume ${id}`);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /resume it with a higher one/);
    const resumed = await run(`jobs resume ${id} --budget-cents 500`);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.match(resumed.stdout, /4 documents indexed .* 36 tokens for 36 cents/);
    assert.equal(server.answered.length, 4);
    assert.equal(new Set(server.answered).size, 4);
  });

  test('is paid once, and the saving is shown', async (t) => {
    const { server, run, read } = await setup(t);
    await run('ingest docs --corpus zoo');
    const again = await run('ingest docs --corpus zoo --force');
    assert.match(again.stdout, /saved 36 tokens, 36 cents/);
    assert.equal(server.answered.length, 4);
    const corpus = await read('corpora show zoo');
    assert.deepEqual(
      [corpus.model, corpus.cost_cents, corpus.saved_cents],
      ['metered-model@8', 36, 36],
    );
  });

  test('is used with the model of the corpus, until the corpus is embedded again', async (t) => {
    const { server, run, read } = await setup(t);
    await run('ingest docs --corpus zoo', { PAWL_EMBEDDER: 'local' });
    assert.equal((await read('corpora show zoo')).model, 'static-256');
    const query = 'search zoo walruses --mode vector';
    assert.equal((await run(query)).code, 0);
    assert.equal(server.requests.length, 0);
    const turned = await run('corpora reembed zoo');
    assert.equal(turned.code, 0, turned.stderr);
    assert.equal((await read('corpora show zoo')).model, 'metered-model@8');
    assert.equal((await run(query)).code, 0);
    assert.equal(server.answered.at(-1), 'walruses');
    const refused = await run('corpora reembed zoo');
    assert.match(refused.stderr, /set PAWL_EMBEDDER to another model/);
  });

  test('keeps its key out of all output and storage', async (t) => {
    const { server, runner, run } = await setup(t);
    server.script = () => ({ status: 401, body: { error: { message: `wrong key ${key}` } } });
    const failed = await run('ingest docs --corpus zoo', { PAWL_LOG: 'debug' });
    assert.equal(failed.code, 2, failed.stderr);
    const inbox = await run('inbox list --json');
    const store = await runner.run(['doctor', '--json']);
    for (const { stdout, stderr } of [failed, inbox, store]) {
      assert.equal(`${stdout}${stderr}`.includes('sk-secret'), false);
    }
    assert.match(inbox.stdout, /provider_auth/);
    const folder = join(runner.folder, '.pawl');
    for (const name of readdirSync(folder).filter((file) => file.startsWith('pawl.db'))) {
      assert.equal(readFileSync(join(folder, name)).includes('sk-secret'), false, name);
    }
  });
});
