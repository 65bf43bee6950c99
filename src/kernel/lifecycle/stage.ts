/** The `status` people see. It is derived from the items, and never stored by hand. */
import { defineMachine, type StateOf, statesOf } from './machine.ts';

export const stage = defineMachine({
  name: 'stage',
  initial: 'pending',
  states: ['pending', 'scraping', 'chunking', 'embedding', 'done', 'failed', 'canceled'],
  final: ['done', 'failed', 'canceled'],
  actions: ['cancel', 'retry'],
  edges: [
    ['begin', ['pending'], 'scraping'],
    ['scrape', ['scraping'], 'chunking'],
    ['chunk', ['chunking'], 'embedding'],
    ['embed', ['embedding'], 'done'],
    // Unchanged content ends early: there is nothing to chunk or embed.
    ['skip', ['pending', 'scraping'], 'done'],
    ['fail', ['pending', 'scraping', 'chunking', 'embedding'], 'failed'],
    ['cancel', ['pending', 'scraping', 'chunking', 'embedding'], 'canceled'],
    ['retry', ['failed', 'canceled'], 'pending'],
  ],
});

export type StageState = StateOf<typeof stage>;

/** The states by name, for comparisons. */
export const stageState = statesOf(stage);

/** The stages that do work, each owned by one service. */
export type Stage = 'scraping' | 'chunking' | 'embedding';

/**
 * Where the work of a step is done: by the process that holds the item, or by a service that it
 * asks and waits for. Each has places of its own, so that one that is away stops no other.
 */
export const stepServices = ['here', 'scraping', 'embedding'] as const;
export type StepService = (typeof stepServices)[number];

/** What people read for each status (and, for `failed`, for the stage it failed in). */
export const stageMessages: Readonly<Record<Exclude<StageState, 'failed'>, string>> = {
  pending: 'Job queued',
  scraping: 'Fetching content…',
  chunking: 'Processing content…',
  embedding: 'Indexing content…',
  done: 'Document indexed — ready to search',
  canceled: 'Canceled',
};

export const failedStageMessages: Readonly<Record<Stage, string>> = {
  scraping: 'Could not fetch the URL. Check that it is accessible.',
  chunking: 'Content could not be processed. Try a different URL or format.',
  embedding: 'Indexing failed. This may be a temporary issue — try again.',
};
