/**
 * The real document pipeline, with a fake embedder and faults around each step. Each time a step
 * function is called, the simulation checks whether that step is already committed.
 */
import type { BlobStore } from '../../src/blob/blob.ts';
import { loadOnce } from '../../src/concurrency/load-once.ts';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { item as lifecycle } from '../../src/kernel/lifecycle/item.ts';
import { chunkHere } from '../../src/pipeline/chunk/chunker.ts';
import { documentPipeline } from '../../src/pipeline/document.ts';
import { entitiesHere, localExtractor } from '../../src/pipeline/entity/local-extractor.ts';
import { parse } from '../../src/pipeline/extract/format/parse.ts';
import type { Fetcher } from '../../src/pipeline/fetch/http/http.ts';
import { PaidAnswers } from '../../src/pipeline/paid-answers.ts';
import type { Pipeline, StepContext, StepFunction } from '../../src/pipeline/pipeline.ts';
import type { Embedder } from '../../src/provider/embedding/embedding.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { simulatedLane } from './batch-lane.ts';
import { poisonWord, textOf } from './content.ts';
import type { FaultKind } from './fault.ts';
import { never } from './ports.ts';
import type { SimulatedProcess } from './process.ts';

const timeoutMs = 20_000;
const slowMsMax = 15_000;
const usualMsMax = 400;
/** More than twice the time after which a silent worker is given up. */
const stallMsMax = 200_000;

const embedder: Embedder = {
  model: 'simulated',
  embed: async (texts) => ({
    vectors: texts.map((text) => Uint8Array.of(text.length & 0xff)),
    tokensIn: texts.length,
    costCents: texts.length / 4,
  }),
};

const noBlobs: BlobStore = {
  put: () => Promise.reject(new Error('inline documents have no blobs')),
  get: () => Promise.reject(new Error('inline documents have no blobs')),
};

const noWeb: Fetcher = {
  get: () => Promise.reject(new Error('inline documents are not fetched')),
};

const findEntities = entitiesHere();
const extractor = localExtractor(findEntities);
const parts = { blobs: noBlobs, embedder, fetcher: noWeb, parser: parse, extractor };

/**
 * Loads what the steps load at their first use. In a run it would take real turns of the event
 * loop: the first run of a process would differ from all later ones of its seed.
 */
export const loadSteps = loadOnce(async () => {
  const bytes = Buffer.from(textOf('a document', 1, false));
  const input = { bytes, mediaType: 'text/markdown', source: 'a document' };
  const { signal } = new AbortController();
  const { markdown } = await parse(input, signal);
  await chunkHere(markdown, signal);
  await findEntities(markdown);
});

export function simulatedPipeline(process: SimulatedProcess): Pipeline {
  const real = documentPipeline({ ...parts, ...laneOf(process) });
  const pipeline = process.setting.plant.pipeline?.(real) ?? real;
  const steps = Object.entries(pipeline.steps).map(([step, run]) => [
    step,
    watchedStep(process, step, run),
  ]);
  return { ...pipeline, steps: Object.fromEntries(steps), timeoutMs: () => timeoutMs };
}

/** Only the batch lane costs something here. */
function laneOf(process: SimulatedProcess) {
  const { setting, database, world } = process;
  const { batches } = setting;
  if (!batches) return {};
  const paidAnswers = new PaidAnswers(database, world);
  return { blobs: batches.blobsOf(process), paidAnswers, lane: simulatedLane };
}

function watchedStep(process: SimulatedProcess, step: string, run: StepFunction): StepFunction {
  const { faults, random } = process.setting;
  const body = async (context: StepContext) => {
    await recordInvocation(process, step, context.item.id);
    if (faults.happens('stall_during_step')) process.stall(random.whole(1_000, stallMsMax));
    await pause(process, faults.happens('step_slow') ? slowMsMax : usualMsMax);
    await die(process, step, context);
    const fault = failures.find(([kind]) => faults.happens(kind));
    if (fault) throw fault[1](random.pick(waits));
    if (faults.happens('step_hangs')) return never<undefined>();
    if (faults.happens('step_outlives_deadline')) {
      await process.after(timeoutMs + random.whole(1, timeoutMs), async () => undefined);
    }
    return run(context);
  };
  return (context) => {
    if (faults.happens('step_throws_at_once')) throw new TypeError('thrown at once');
    return body(context);
  };
}

async function pause(process: SimulatedProcess, mostMs: number): Promise<void> {
  const { random } = process.setting;
  if (random.chance(0.5)) await process.after(random.whole(1, mostMs), async () => undefined);
}

const waits = [undefined, 0, -1, 100, 500, 2_000, 5_000, 9_000, 90_000, Number.NaN, 7_200_000];

/** The ways in which a step itself fails. */
const failures: readonly (readonly [FaultKind, (retryAfterMs?: number) => unknown])[] = [
  ['step_rate_limited', (ms) => new Failure('rate_limited', 'slow down', { retryAfterMs: ms })],
  ['step_transient', (ms) => new Failure('http_5xx', 'it is down', { retryAfterMs: ms })],
  ['step_schema_invalid', () => new Failure('step_output_invalid', 'not what was asked for')],
  ['step_fatal', () => new Failure('http_404', 'not there')],
  ['step_unknown_exception', (ms) => (ms === 0 ? 'a string' : new TypeError('a defect'))],
];

const stored = sql<{ progress: number; epoch: number; body: string | null }>`
  SELECT progress, epoch, body FROM items LEFT JOIN inputs ON inputs.item_id = items.id
  WHERE items.id = :id`;

async function recordInvocation(
  process: SimulatedProcess,
  step: string,
  id: number,
): Promise<void> {
  const { recorder, store } = process.setting;
  const epoch = process.epochs.get(id);
  const [row] = await store.run(stored, { id });
  recorder.stepsInvoked++;
  const isZombie = row?.epoch !== epoch;
  if (isZombie) recorder.zombieSteps++;
  recorder.tell(
    () => `${process.name} runs ${step} of ${id}@${epoch}${isZombie ? ' (zombie)' : ''}`,
  );
  if (isZombie || !row || !lifecycle.isReached(row.progress, step)) return;
  recorder.violate(
    'noStepRunsTwice',
    `${process.name} runs ${step} of item ${id}@${epoch}, which has progress ${row.progress}`,
  );
}

/** A document that kills its worker. */
async function die(process: SimulatedProcess, step: string, { item }: StepContext): Promise<void> {
  if (step !== 'content_extracted') return;
  const [row] = await process.setting.store.run(stored, { id: item.id });
  if (!row?.body?.includes(poisonWord)) return;
  process.crash(`poisoned by item ${item.id}`);
  return never();
}
