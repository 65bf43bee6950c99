/**
 * The document pipeline with a meter: every paid call is written down before it is made, with
 * whether its step had already been committed; and every step takes a random few milliseconds.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '../../src/kernel/failure.ts';
import { embedStep } from '../../src/pipeline/embed/embed.ts';
import type { Pipeline, StepContext, StepFunction } from '../../src/pipeline/pipeline.ts';
import type { Embedder } from '../../src/provider/embedding.ts';
import { sql } from '../../src/store/statement.ts';
import type { Chance } from './chance.ts';
import type { Appender } from './submission-log.ts';

/** As many as the store's own vectors have. What they say is of no matter here. */
const vectorBytes = 256;

export interface PaidCall {
  readonly itemId: number;
  readonly step: string;
  readonly pid: number;
  readonly at: number;
  readonly texts: number;
  /** The click was in the history before the call began: money for nothing. */
  readonly wasCompleted: boolean;
}

export interface MeterOptions {
  readonly ledger: Appender<PaidCall>;
  readonly chance: Chance;
  readonly stepMsMax: number;
  /** How likely a call fails before it is made, so that items wait for a retry. */
  readonly failureRate: number;
}

export function metered(options: MeterOptions): (documents: Pipeline) => Pipeline {
  return (documents) => {
    const embedded: StepFunction = (context) =>
      embedStep({ embedder: meteredEmbedder(context, options) })(context);
    const steps = Object.entries({ ...documents.steps, embedded });
    return {
      ...documents,
      steps: Object.fromEntries(steps.map(([step, run]) => [step, slowed(run, options)])),
    };
  };
}

function slowed(run: StepFunction, { chance, stepMsMax }: MeterOptions): StepFunction {
  return async (context) => {
    await pause(chance.next() * stepMsMax);
    const result = await run(context);
    await pause(chance.next() * stepMsMax);
    return result;
  };
}

const completions = sql<{ seq: number }>`
  SELECT seq FROM events WHERE job_id = :job_id AND item_id = :item_id AND step = 'embedded'
    AND kind = 'step_completed'`;

function meteredEmbedder({ item, reader }: StepContext, options: MeterOptions): Embedder {
  const { ledger, chance, failureRate, stepMsMax } = options;
  return {
    model: 'metered',
    async embed(texts) {
      if (chance.hits(failureRate))
        throw new Failure('network_error', 'the meter failed on purpose');
      const completed = await reader.run(completions, { job_id: item.jobId, item_id: item.id });
      ledger.append({
        itemId: item.id,
        step: 'embedded',
        pid: process.pid,
        at: Date.now(),
        texts: texts.length,
        wasCompleted: completed.length > 0,
      });
      await pause(chance.next() * stepMsMax);
      return {
        vectors: texts.map(() => new Uint8Array(vectorBytes)),
        tokensIn: texts.length,
        costCents: 1,
      };
    },
  };
}
