/** What a submission has to be before anything of it is written. */
import { Failure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import type { NewSource } from '../store/submit.ts';

export function checkCorpusName(name: string): void {
  if (limits.corpus.namePattern.test(name)) return;
  throw new Failure(
    'corpus_name_invalid',
    `the corpus name ${JSON.stringify(name)} cannot be used: take 1 to ` +
      `${limits.corpus.nameCharactersMax} of a-z, 0-9, '.', '_' and '-', a letter or digit first`,
  );
}

export function checkSources(sources: readonly NewSource[]): void {
  if (sources.length === 0) throw new Failure('sources_empty', 'there is nothing to ingest');
  if (sources.length <= limits.job.itemsMax) return;
  throw new Failure(
    'too_many_sources',
    `a job takes up to ${limits.job.itemsMax} sources, and these are ${sources.length}`,
  );
}

export function checkPriority(priority: number = limits.fairness.priorityDefault): number {
  const { priorityMin, priorityMax } = limits.fairness;
  if (Number.isInteger(priority) && priority >= priorityMin && priority <= priorityMax) {
    return priority;
  }
  const message = `a priority is a whole number from ${priorityMin} to ${priorityMax}`;
  throw new Failure('bad_request', message);
}

export type LaneName = 'now' | 'cheap';

export function checkLane(lane: string = 'now'): LaneName {
  if (lane === 'now' || lane === 'cheap') return lane;
  throw new Failure('bad_request', `a lane is now or cheap, not ${lane}`);
}
