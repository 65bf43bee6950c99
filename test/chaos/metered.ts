/**
 * The document pipeline with a real provider at its end: a metered server in the process that kills
 * the workers. It writes down every call, with whether one of its texts had been answered before
 * and the answer kept; and every step takes a random few milliseconds.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '../../src/kernel/failure.ts';
import { vectorKey } from '../../src/pipeline/embed/embed-texts.ts';
import type { Pipeline, StepFunction } from '../../src/pipeline/pipeline.ts';
import type { Database } from '../../src/store/database.ts';
import { sql } from '../../src/store/statement.ts';
import { type OpenaiServer, startOpenaiServer } from '../support/openai-server.ts';
import type { Chance } from './chance.ts';

const dimensions = 16;
const model = `metered@${dimensions}`;
const answerMsMax = 8;
/** Between a look and the call that follows it, another process may keep the answer. */
const lookMs = 500;

export interface PaidCall {
  readonly pid: number;
  readonly at: number;
  readonly texts: number;
  /** An answer was in the store well before the call came: money for nothing. */
  readonly wasKept: boolean;
}

export interface MeteredServer {
  readonly url: string;
  readonly calls: readonly PaidCall[];
  /** Texts that were answered again, because the first answer was lost with its process. */
  askedAgain(): number;
  close(): Promise<void>;
}

const keptBefore = sql<{ key: string }>`
  SELECT key FROM results WHERE key {amongKeys} AND created_at < :before LIMIT 1`;

export async function startMeteredServer(database: Database): Promise<MeteredServer> {
  const server: OpenaiServer = await startOpenaiServer();
  const calls: PaidCall[] = [];
  server.script = async ({ texts, authorization }) => {
    const at = Date.now();
    const keys = JSON.stringify(texts.map((text) => vectorKey(model, text)));
    const kept = await database.run(keptBefore, { keys, before: at - lookMs });
    const pid = Number(/pid-(\d+)/.exec(authorization ?? '')?.[1]);
    calls.push({ pid, at, texts: texts.length, wasKept: kept.length > 0 });
    await pause(calls.length % answerMsMax);
    return undefined;
  };
  return {
    url: server.url,
    calls,
    askedAgain: () => server.answered.length - new Set(server.answered).size,
    close: () => server.close(),
  };
}

/** The provider as a worker is told of it. Its key says who it is. */
export function meteredProvider(url: string) {
  const key = `pid-${process.pid}`;
  return { choice: `openai:${model}`, url, key, centsPerMillionTokens: 1_000_000 };
}

export interface MeterOptions {
  readonly chance: Chance;
  readonly stepMsMax: number;
  /** How likely a call fails before it is made, so that items wait for a retry. */
  readonly failureRate: number;
}

export function metered(options: MeterOptions): (documents: Pipeline) => Pipeline {
  return (documents) => {
    const steps = Object.entries(documents.steps);
    return {
      ...documents,
      steps: Object.fromEntries(
        steps.map(([step, run]) => [
          step,
          slowed(step === 'embedded' ? failing(run, options) : run, options),
        ]),
      ),
    };
  };
}

function failing(run: StepFunction, { chance, failureRate }: MeterOptions): StepFunction {
  return async (context) => {
    if (chance.hits(failureRate)) throw new Failure('network_error', 'failed on purpose');
    return run(context);
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
