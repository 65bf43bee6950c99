/** Checks a submission before anything of it is written. */

import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Extractor } from '../../pipeline/entity/extraction.ts';
import type { Embedder } from '../../provider/embedding/embedding.ts';
import type { JobRow } from '../../store/job/jobs.ts';
import type { NewSource } from '../../store/job/submit.ts';

/** The allowed form of a corpus name, in words. */
export const corpusNameForm =
  `1 to ${limits.corpus.nameCharactersMax} of a-z, 0-9, '.', '_' and '-', ` +
  'starting with a letter or digit';

export function checkCorpusName(name: string): void {
  if (limits.corpus.fullNamePattern.test(name)) return;
  const shown = JSON.stringify(name);
  const message = `the corpus name ${shown} is invalid: use ${corpusNameForm}`;
  throw new Failure('corpus_name_invalid', message);
}

export function checkSources(sources: readonly NewSource[]): void {
  if (sources.length === 0) throw new Failure('sources_empty', 'no sources were given');
  if (sources.length <= limits.job.itemsMax) return;
  throw new Failure(
    'too_many_sources',
    `a job takes up to ${limits.job.itemsMax} sources, not ${sources.length}: split it`,
  );
}

export function checkPriority(priority: number = limits.fairness.priorityDefault): number {
  const { priorityMin, priorityMax } = limits.fairness;
  if (Number.isInteger(priority) && priority >= priorityMin && priority <= priorityMax) {
    return priority;
  }
  const message = `priority must be a whole number from ${priorityMin} to ${priorityMax}`;
  throw new Failure('bad_request', message);
}

/** Undefined means no budget. */
export function checkBudget(cents: number | undefined): number | undefined {
  if (cents === undefined || (Number.isFinite(cents) && cents >= 0)) return cents;
  throw new Failure('bad_request', `the budget must be at least 0 cents, not ${cents}`);
}

/** Undefined means the default job timeout. */
export function checkWallSeconds(seconds: number | undefined): number | undefined {
  const most = limits.job.wallClockMs / 1000;
  if (seconds === undefined) return undefined;
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= most) return seconds;
  const message = `max_wall_seconds must be a whole number from 1 to ${most}, not ${seconds}`;
  throw new Failure('bad_request', message);
}

/** With the same budget, the job would stop at the same call. */
export function checkRaised(row: JobRow, budget: number | undefined): void {
  const { pause_reason, budget_cents } = row;
  if (pause_reason !== 'budget_reached' || budget_cents === null) return;
  if (budget !== undefined && budget > budget_cents) return;
  throw new Failure(
    'action_not_allowed',
    `job ${row.key} has used up its budget of ${budget_cents} cents: resume it with a ` +
      'higher one, --budget-cents N',
  );
}

/** A budget cannot be kept without a price. */
export function checkPriced(models: {
  readonly embedder: Embedder;
  readonly extractor?: Extractor | undefined;
}): void {
  const { embedder, extractor } = models;
  const unknown = (model: string | undefined, setting: string): Failure => {
    const message = `the price of ${model} is not known: set ${setting} to use a budget`;
    return new Failure('bad_request', message);
  };
  if (embedder.meter && embedder.meter.centsPerMillionTokens === undefined) {
    throw unknown(embedder.model, 'PAWL_EMBEDDER_PRICE');
  }
  if (extractor?.meter && extractor.meter.prices === undefined) {
    throw unknown(extractor.model, 'PAWL_EXTRACTOR_PRICE');
  }
}

export const lanes = ['now', 'cheap'] as const;
export type LaneName = (typeof lanes)[number];

export function checkLane(lane: string = 'now'): LaneName {
  const found = lanes.find((each) => each === lane);
  if (found) return found;
  throw new Failure('bad_request', `lane must be now or cheap, not ${lane}`);
}
