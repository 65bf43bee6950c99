import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TestWorld } from '../../../test/support/test-world.ts';
import { Failure, type FailureCode } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { EmbeddedQueue } from '../../queue/embedded.ts';
import type { Message } from '../../queue/queue.ts';
import type { ResponseStore } from '../../redis/response-store.ts';
import type { WorkerName } from '../orchestrator/broker.ts';
import type { Begun, Completion, OrchestratorClient } from '../orchestrator/callbacks.ts';
import { type Payloads, payloadsBy } from '../payload.ts';
import { startWorker, type Tried } from './consumer.ts';
import { Unconfigured, type Work } from './work.ts';

const worker = { id: 'w', host: 'machine', pid: 1, process_started: '7' };
const begun: Begun = { status: 'begun', epoch: 3, kind: 'visit', request: { source: 'a' } };
const asked: Message = { id: 'token.0', kind: 'visit', jobId: 'job' };
const loose = (kind: string): Message => {
  return { id: 'loose', kind, jobId: 'job', request: { texts: ['a'] } };
};

class Orchestrator implements OrchestratorClient {
  begun: Begun = begun;
  isWanted = true;
  /** Errors thrown by the next calls. */
  readonly away: unknown[] = [];
  readonly calls: string[] = [];
  readonly completions: Completion[] = [];

  readonly workers: string[] = [];

  async begin(jobKey: string, handoff: string, { id }: WorkerName): Promise<Begun> {
    this.workers.push(id);
    this.#call(`begin ${jobKey} ${handoff}`);
    return this.begun;
  }

  async beat(_: string, { epoch, isLeaving, progress }: Parameters<OrchestratorClient['beat']>[1]) {
    const told = progress ? ` ${progress.done}/${progress.total}` : '';
    this.#call(`${isLeaving ? 'leave' : 'beat'} ${epoch}${told}`);
    return this.isWanted;
  }

  async complete(_: string, completion: Completion) {
    this.#call('complete');
    this.completions.push(completion);
    return { status: 'chunking' };
  }

  #call(name: string): void {
    this.calls.push(name);
    const error = name.startsWith('beat') ? undefined : this.away.shift();
    if (error !== undefined) throw error;
  }
}

/** The response store shared by the workers of one queue. */
class Kept implements ResponseStore {
  readonly all = new Map<string, string>();

  async read(handoff: string) {
    return this.all.get(handoff);
  }

  async write(handoff: string, answer: string) {
    this.all.set(handoff, answer);
  }

  async remove(handoff: string) {
    this.all.delete(handoff);
  }

  close() {}
}

async function open(work: Work, payloads: Payloads = payloadsBy(), answers?: ResponseStore) {
  const world = new TestWorld();
  const queue = new EmbeddedQueue({ name: 'scrape_jobs', world });
  const client = new Orchestrator();
  const errors: string[] = [];
  const tried: Tried[] = [];
  const consumer = await startWorker({
    queue,
    client,
    world,
    worker,
    places: 4,
    payloads,
    answers,
    works: { visit: work, embed: work },
    onTry: (one) => tried.push(one),
    onError: (what, error) => errors.push(`${what}: ${String(error)}`),
  });
  const isIdle = async () => (await queue.depth()).waiting + (await queue.depth()).active === 0;
  return { world, queue, client, errors, tried, consumer, isIdle };
}

const failing = (
  code: FailureCode,
  times: number,
  retryAfterMs?: number,
): Work & { tries: () => number } => {
  let tries = 0;
  const work: Work = async () => {
    tries += 1;
    if (tries <= times) throw new Failure(code, 'not now', { retryAfterMs });
    return { value: { page: 'a page' } };
  };
  return Object.assign(work, { tries: () => tries });
};

describe('a worker', () => {
  test('begins, does the work, and calls back with the epoch it was given', async () => {
    const { world, queue, client, isIdle } = await open(async ({ request }) => ({
      value: { saw: request.source },
      bytes: Buffer.from('bytes'),
    }));
    await queue.add([asked]);
    await world.until('the end', isIdle);
    assert.deepEqual(client.calls, ['begin job token', 'complete']);
    const [completion] = client.completions;
    const { handoff, epoch, value, failure, stage } = completion ?? {};
    assert.deepEqual(
      { handoff, epoch, value, failure, stage },
      { handoff: 'token', epoch: 3, value: { saw: 'a' }, failure: undefined, stage: 'scraping' },
    );
    assert.equal(String(completion?.bytes), 'bytes');
  });

  test('reports the duration of each try, without the waits between them', async () => {
    const { world, queue, tried, isIdle } = await open(failing('provider_unavailable', 3));
    await queue.add([loose('embed')]);
    await world.until('the end', isIdle);
    assert.deepEqual(tried, Array(4).fill({ kind: 'embed', durationMs: 0 }));
  });

  test('has its own name for each run, and the same name for each try to begin', async () => {
    const { world, queue, client, isIdle } = await open(failing('http_404', 0));
    client.away.push(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
    await queue.add([asked, { ...asked, id: 'token.1' }]);
    await world.until('the end', isIdle);
    assert.equal(client.workers.length, 3);
    assert.equal(new Set(client.workers).size, 2);
    for (const id of client.workers) assert.match(id, /^w\./);
  });

  test('skips work whose response is no longer needed', async () => {
    const work = failing('http_404', 0);
    const { world, queue, client, isIdle } = await open(work);
    client.begun = { status: 'gone' };
    await queue.add([asked]);
    await world.until('the end', isIdle);
    assert.deepEqual([work.tries(), client.calls], [0, ['begin job token']]);
  });

  const outcomes: readonly [code: FailureCode, isAnotherTryAskedFor: boolean][] = [
    ['http_5xx', true],
    ['rate_limited', true],
    ['http_429', true],
    ['http_404', false],
    ['captcha', true],
    ['step_output_invalid', false],
  ];
  for (const [code, isAnotherTryAskedFor] of outcomes) {
    const asks = isAnotherTryAskedFor ? 'asks for another try' : 'asks for no other try';
    test(`that meets ${code} tries once, and ${asks}`, async () => {
      const work = failing(code, 9);
      const { world, queue, client, isIdle } = await open(work);
      await queue.add([asked]);
      await world.until('the end', isIdle);
      const [{ failure } = {}] = client.completions;
      assert.deepEqual([work.tries(), client.completions.length], [1, 1]);
      assert.deepEqual([failure?.code, failure?.retry ?? false], [code, isAnotherTryAskedFor]);
    });
  }

  test('reports a failure with its place, its worker and the time to wait', async () => {
    const context = { domain: 'example.org', status: 503 };
    const { world, queue, client, isIdle } = await open(async () => {
      throw new Failure('http_5xx', 'example.org answered 503', { retryAfterMs: 7000, context });
    });
    await queue.add([asked]);
    await world.until('the end', isIdle);
    const [{ failure } = {}] = client.completions;
    assert.deepEqual(failure?.context, { ...context, worker_id: client.workers[0] });
    assert.equal(failure?.retry_after_ms, 7000);
  });

  test('retries standalone work itself, and waits for a provider without a try', async () => {
    const spent = failing('provider_unavailable', 99);
    const first = await open(spent);
    await first.queue.add([loose('embed')]);
    await first.world.until('the end', first.isIdle);
    assert.deepEqual([spent.tries(), first.client.completions[0]?.failure?.tries], [6, 6]);
    assert.equal(first.client.completions[0]?.stage, 'embedding');

    const limited = failing('rate_limited', 20, 5_000);
    const second = await open(limited);
    await second.queue.add([loose('embed')]);
    await second.world.until('the end', second.isIdle);
    assert.deepEqual([limited.tries(), second.client.completions[0]?.failure], [21, undefined]);

    const long = failing('rate_limited', 1, 2 * limits.handoff.waitMsMax);
    const third = await open(long);
    await third.queue.add([loose('embed')]);
    await third.world.until('the end', third.isIdle);
    const told = third.client.completions[0]?.failure;
    assert.deepEqual(
      [told?.code, told?.retry_after_ms],
      ['rate_limited', 2 * limits.handoff.waitMsMax],
    );
  });

  test('calls back until the orchestrator is available again, and does its work once', async () => {
    const work = failing('http_404', 0);
    const { world, queue, client, errors, isIdle } = await open(work);
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    client.away.push(refused, refused, undefined, ...Array.from({ length: 50 }, () => refused));
    await queue.add([asked]);
    await world.until('the end', isIdle);
    assert.deepEqual([work.tries(), client.completions.length], [1, 1]);
    const calls = client.calls.filter((call) => !call.startsWith('beat'));
    assert.equal(calls.filter((call) => call === 'complete').length, 51);
    assert.equal(errors.filter((error) => error.startsWith('orchestrator')).length, 2);
  });

  test('sends heartbeats with its progress, and stops when it is given up', async () => {
    const { world, queue, client, isIdle } = await open(async (_, { signal, progress }) => {
      progress(3, 12);
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
      throw new Error('never');
    });
    await queue.add([asked]);
    await world.advance(2.5 * limits.handoff.beatMs);
    assert.deepEqual(client.calls, ['begin job token', 'beat 3 3/12', 'beat 3 3/12']);
    client.isWanted = false;
    await world.until('the end', isIdle);
    assert.deepEqual([client.completions.length, client.calls.length], [0, 4]);
    assert.equal(world.pendingTimers, 0);
  });

  test('that is stopped returns its request', async () => {
    const { world, queue, client, consumer } = await open(
      (_, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    await queue.add([asked]);
    await world.until('the beginning', () => client.calls.length === 1);
    const stopped = consumer.stop(1000);
    await world.advance(2000);
    await stopped;
    assert.deepEqual(client.calls, ['begin job token', 'leave 3']);
    assert.deepEqual(await queue.depth(), { waiting: 1, active: 0 });
  });

  test('whose response is refused reports that, and works once', async () => {
    const work = failing('http_404', 0);
    const { world, queue, client, isIdle } = await open(work);
    client.away.push(undefined, new Failure('payload_too_large', 'it answered 413'));
    await queue.add([asked]);
    await world.until('the end', isIdle);
    assert.deepEqual(client.calls, ['begin job token', 'complete', 'complete']);
    const [{ failure, value, epoch } = {}] = client.completions;
    assert.deepEqual([failure?.code, value, epoch], ['source_too_large', {}, 3]);
    assert.equal(work.tries(), 1);
    client.away.push(undefined, new Failure('bad_request', 'it answered 400'));
    await queue.add([asked]);
    await world.until('the end', isIdle);
    assert.equal(client.completions[1]?.failure?.code, 'bad_request');
  });

  test('waits for a blob store that is away, before and after its work', async () => {
    const away = new Failure('provider_unavailable', 'the bucket is away');
    const refusals = { pack: 9, unpack: 3 };
    const own = payloadsBy();
    const payloads: Payloads = {
      pack: async (payload) => {
        if (refusals.pack-- > 0) throw away;
        return own.pack(payload);
      },
      unpack: async (payload) => {
        if (refusals.unpack-- > 0) throw away;
        return own.unpack(payload);
      },
    };
    const work = failing('http_404', 0);
    const { world, queue, client, errors, isIdle } = await open(work, payloads);
    await queue.add([asked]);
    await world.until('the end', isIdle);
    assert.deepEqual([work.tries(), client.completions[0]?.failure], [1, undefined]);
    assert.deepEqual(errors, Array(2).fill('blob store: Failure: the bucket is away'));
  });

  test('that cannot find the bytes of a request reports that', async () => {
    const { world, queue, client, isIdle } = await open(failing('http_404', 0));
    client.begun = { ...begun, request: { source: 'a', blob: 'elsewhere' } };
    await queue.add([asked]);
    await world.until('the end', isIdle);
    assert.deepEqual(client.calls, ['begin job token', 'complete']);
    assert.equal(client.completions[0]?.failure?.code, 'source_missing');
  });

  test('that stops before it could report a paid response leaves it to the next', async () => {
    const kept = new Kept();
    const paid: Work = async () => ({ value: { cost: 7 }, bytes: Buffer.from('vectors') });
    const first = await open(paid, payloadsBy(), kept);
    first.client.begun = { ...begun, kind: 'embed' };
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    first.client.away.push(undefined, ...Array.from({ length: 99 }, () => refused));
    await first.queue.add([{ ...asked, kind: 'embed' }]);
    await first.world.until('the callback', () => first.client.calls.includes('complete'));
    const stopped = first.consumer.stop(0);
    await first.world.advance(1000);
    await stopped;
    assert.equal(first.client.completions.length, 0);

    const again = failing('http_404', 0);
    const second = await open(again, payloadsBy(), kept);
    second.client.begun = { ...begun, kind: 'embed', epoch: 5 };
    await second.queue.add([{ ...asked, kind: 'embed' }]);
    await second.world.until('the end', second.isIdle);
    assert.equal(again.tries(), 0);
    const [{ value, bytes, epoch } = {}] = second.client.completions;
    assert.deepEqual([value, String(bytes), epoch], [{ cost: 7 }, 'vectors', 5]);
    assert.equal(kept.all.size, 0);
  });

  test('stores no failure, and nothing that costs nothing', async () => {
    const kept = new Kept();
    const writes: string[] = [];
    kept.write = async (handoff) => void writes.push(handoff);
    const free = await open(failing('http_404', 0), payloadsBy(), kept);
    await free.queue.add([asked]);
    await free.world.until('the end', free.isIdle);
    const failed = await open(failing('provider_auth', 9), payloadsBy(), kept);
    failed.client.begun = { ...begun, kind: 'embed' };
    await failed.queue.add([{ ...asked, kind: 'embed' }]);
    await failed.world.until('the end', failed.isIdle);
    assert.deepEqual([failed.client.completions.length, writes], [1, []]);
  });

  test('does standalone work, and calls back if a job was named', async () => {
    const { world, queue, client, isIdle } = await open(failing('http_404', 0));
    const visit = { kind: 'visit', request: { source: 'a' } };
    await queue.add([{ ...visit, id: 'one' }]);
    await world.until('the end', isIdle);
    assert.deepEqual(client.calls, []);
    await queue.add([{ ...visit, id: 'two', jobId: 'job' }]);
    await world.until('the end', isIdle);
    assert.deepEqual(client.calls, ['complete']);
    assert.equal(client.completions[0]?.handoff, undefined);
  });

  test('refuses unknown work, and large bytes without a blob store', async () => {
    const { world, queue, client, isIdle } = await open(async () => ({
      value: {},
      bytes: new Uint8Array(limits.handoff.bytesMax + 1),
    }));
    await queue.add([asked]);
    client.begun = begun;
    await world.until('the end', isIdle);
    assert.equal(client.completions[0]?.failure?.code, 'source_too_large');
    assert.match(client.completions[0]?.failure?.message ?? '', /PAWL_BLOB_URL/);
    client.begun = { ...begun, kind: 'dance' };
    await queue.add([asked]);
    await world.until('the end', isIdle);
    assert.equal(client.completions[1]?.failure?.code, 'bad_request');
  });

  test('returns work that it lacks settings for, until no worker seems to have them', async () => {
    const work: Work = async () => {
      throw new Unconfigured('a-model', 'PAWL_EMBEDDER');
    };
    const { client, queue, world, errors } = await open(work);
    await queue.add([asked]);
    await world.until('it to be returned', () => client.calls.includes('leave 3'));
    assert.equal(client.completions.length, 0);
    assert.match(errors.join(), /set PAWL_EMBEDDER/);
    client.begun = { ...begun, releases: limits.handoff.declinesMax } as Begun;
    await world.until('it to be failed', () => client.completions.length > 0);
    assert.equal(client.completions[0]?.failure?.code, 'provider_bad_request');
  });
});
