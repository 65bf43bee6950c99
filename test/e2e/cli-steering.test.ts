/** Stopping, killing, pausing and canceling an ingest, and resuming it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Cleanup } from '../support/temporary.ts';
import { type CommandRunner, openRunner, type Started } from './pawl-process.ts';

const documents = 40;
const ingest = ['ingest', 'docs', '--corpus', 'notes'];

function setup(t: Cleanup): CommandRunner {
  const place = openRunner(t);
  for (let index = 0; index < documents; index += 1) {
    place.write(`docs/${index}.md`, `# Note ${index}\n\nThe quince of day ${index} was ripe.\n`);
  }
  return place;
}

/** Starts an ingest that stops itself in the middle, between two commits. */
async function startStopped(place: CommandRunner): Promise<{ ingesting: Started; id: string }> {
  const environment = { PAWL_FAILPOINT: 'report.after-commit:stop:2', PAWL_WORKERS: '4' };
  const ingesting = place.start(ingest, { environment });
  await ingesting.stopped();
  const [, id = ''] = await ingesting.seen(/job ([0-9a-f-]{36})/);
  return { ingesting, id };
}

async function assertWhole(place: CommandRunner): Promise<void> {
  const results = await found(place, 'quince');
  assert.equal(results.length, documents);
  assert.equal(new Set(results.map(({ source_url }) => source_url)).size, documents);
}

async function found(place: CommandRunner, query: string): Promise<{ source_url: string }[]> {
  const args = ['search', 'notes', query, '--top-k', '100', '--mode', 'keyword'];
  return (await place.readOne<{ results: { source_url: string }[] }>(args)).results;
}

async function jobIds(place: CommandRunner): Promise<string[]> {
  const { items } = await place.readOne<{ items: { job_id: string }[] }>(['jobs']);
  return items.map(({ job_id }) => job_id);
}

describe('an interrupted ingest', { concurrency: 2 }, () => {
  test('stops cleanly at Ctrl-C, and the same command resumes it', async (t) => {
    const place = setup(t);
    const { ingesting, id } = await startStopped(place);
    ingesting.child.kill('SIGINT');
    ingesting.child.kill('SIGCONT');
    const stopped = await ingesting.finished;
    assert.equal(stopped.code, 130, stopped.stderr);
    assert.match(stopped.stderr, /stopped; the same command resumes it/);

    // All leases were released, so nothing has to wait.
    const items = await place.read(['doctor']);
    const workers = items.find(({ check }) => check === 'workers');
    assert.deepEqual(workers?.found, 'no process is running');

    const resumed = await place.run(ingest);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.match(resumed.stderr, new RegExp(`resuming 40 documents .*${id}`));
    assert.match(resumed.stdout, /40 documents indexed/);
    assert.deepEqual(await jobIds(place), [id]);
    await assertWhole(place);
  });

  test('resumes after a kill without losses or duplicates', async (t) => {
    const place = setup(t);
    const environment = { PAWL_FAILPOINT: 'report.before-commit:kill:3', PAWL_WORKERS: '4' };
    const killed = await place.run(ingest, { environment });
    assert.equal(killed.signal, 'SIGKILL');
    const resumed = await place.run(ingest);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.match(resumed.stderr, /resuming 40 documents/);
    assert.equal((await jobIds(place)).length, 1);
    await assertWhole(place);
  });

  test('is submitted again if a file has changed since, so that no text is missed', async (t) => {
    const place = setup(t);
    const environment = { PAWL_FAILPOINT: 'report.after-commit:kill:3' };
    await place.run(ingest, { environment });
    place.write('docs/0.md', 'The medlar was not.');
    const again = await place.run(ingest);
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stderr, /ingesting 40 documents/);
    assert.equal((await found(place, 'medlar')).length, 1);
  });
});

describe('another process', { concurrency: 2 }, () => {
  test('pauses an ingest and resumes it', async (t) => {
    const place = setup(t);
    const { ingesting, id } = await startStopped(place);
    const paused = await place.run(['jobs', 'pause', id]);
    assert.equal(paused.code, 0, paused.stderr);
    ingesting.child.kill('SIGCONT');
    await ingesting.seen(/paused; resume with: pawl jobs resume/);
    const [job] = await place.read(['jobs', 'show', id]);
    assert.deepEqual([job?.state, job?.actions], ['paused', ['cancel', 'resume']]);

    const resumed = await place.run(['jobs', 'resume', id]);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.match(resumed.stdout, /a running Pawl process continues this job/);
    const { code, stdout, stderr } = await ingesting.finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /40 documents indexed/);
    await assertWhole(place);
  });

  test('cancels an ingest, and a retry processes the rest', async (t) => {
    const place = setup(t);
    const { ingesting, id } = await startStopped(place);
    const canceled = await place.run(['jobs', 'cancel', id]);
    assert.equal(canceled.code, 0, canceled.stderr);
    assert.match(canceled.stdout, /canceled \d+ documents?; \d+ documents? stay indexed/);
    ingesting.child.kill('SIGCONT');
    assert.equal((await ingesting.finished).code, 1);
    const refused = await place.run(['jobs', 'pause', id]);
    assert.match(refused.stderr, /cannot pause a job that is canceled; possible now: retry/);

    const retried = await place.run(['jobs', 'retry', id]);
    assert.equal(retried.code, 0, retried.stderr);
    await assertWhole(place);
    assert.match((await place.run(['jobs'])).stdout, /notes +succeeded +40 +0 +40/);
  });

  test('watches an ingest to its end', async (t) => {
    const place = setup(t);
    const { ingesting, id } = await startStopped(place);
    const watching = place.start(['jobs', 'watch', id, '--json']);
    ingesting.child.kill('SIGCONT');
    const { code, stdout } = await watching.finished;
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout.trim().split('\n').at(-1) ?? '').state, 'succeeded');
    await ingesting.finished;
  });
});
