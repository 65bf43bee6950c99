import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeLatch, TestWorld } from '../../../test/support/test-world.ts';
import { EmbeddedQueue } from '../../queue/embedded.ts';
import type { Begun, OrchestratorClient } from '../orchestrator/callbacks.ts';
import { payloadsBy } from '../payload.ts';
import { startWorker } from './consumer.ts';
import type { Work } from './work.ts';

const worker = { id: 'w', host: 'machine', pid: 1, process_started: '7' };
const uptimeMs = 10_000;
const message = (id: string) => ({ id: `${id}.0`, kind: 'visit', jobId: 'job' });

/** A worker, and an orchestrator with one suspect request. */
async function setup(work: Work) {
  const world = new TestWorld();
  const queue = new EmbeddedQueue({ name: 'scrape_jobs', world });
  const begins: string[] = [];
  const completed: string[] = [];
  const client: OrchestratorClient = {
    begin: async (_, handoff, __, isAlone): Promise<Begun> => {
      begins.push(`${handoff}${isAlone ? ' alone' : ''}`);
      if (handoff === 'suspect' && !isAlone) return { status: 'alone', uptimeMs };
      return { status: 'begun', epoch: 1, kind: 'visit', request: { source: handoff } };
    },
    beat: async () => true,
    complete: async (_, { handoff }) => {
      completed.push(handoff ?? '');
      return { status: 'chunking' };
    },
  };
  await startWorker({
    queue,
    client,
    world,
    worker,
    places: 4,
    payloads: payloadsBy(),
    works: { visit: work, embed: work },
    onError: (what, error) => assert.fail(`${what}: ${error}`),
  });
  return { world, queue, begins, completed };
}

test('a request that workers died on waits until its worker has been up for long', async () => {
  const { world, queue, begins, completed } = await setup(async () => ({ value: {} }));
  await queue.add([message('suspect')]);
  await world.advance(uptimeMs - 1);
  assert.deepEqual([begins.at(-1), completed], ['suspect', []]);
  await world.until('the end', async () => completed.length === 1);
  assert.equal(begins.at(-1), 'suspect alone');
});

test('such a request runs alone, and nothing is begun beside it', async () => {
  const running = new Set<string>();
  const seen: string[][] = [];
  const latches = new Map(['first', 'suspect'].map((name) => [name, makeLatch()]));
  const { world, queue, completed } = await setup(async ({ request }) => {
    const name = String(request.source);
    running.add(name);
    seen.push([...running]);
    await latches.get(name)?.opened;
    running.delete(name);
    return { value: {} };
  });
  await world.advance(uptimeMs);
  await queue.add([message('first')]);
  await world.until('the first to run', async () => running.has('first'));
  await queue.add([message('suspect')]);
  await world.advance(1);
  await queue.add([message('later')]);
  await world.advance(1000);
  assert.deepEqual(seen, [['first']]);
  latches.get('first')?.open();
  await world.until('the suspect to run', async () => running.has('suspect'));
  await world.advance(1000);
  assert.deepEqual([seen.at(-1), completed], [['suspect'], ['first']]);
  latches.get('suspect')?.open();
  await world.until('the end', async () => completed.length === 3);
  assert.deepEqual(seen.at(-1), ['later']);
});
