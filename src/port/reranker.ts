/** A reranker that a user plugs in: it reads the query and the first passages of a search. */
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import {
  aFunction,
  aName,
  checkPort,
  type MemberChecks,
  orAbsent,
  wholeNumber,
} from '../kernel/port-check.ts';
import type { Reranker } from '../search/rerank.ts';
import type { PortCall } from './embedder.ts';
import { callPort } from './port-call.ts';

export interface RerankedPassage {
  /** Unique in the call. */
  readonly id: string;
  readonly text: string;
  readonly title: string | null;
  /** The heading path. */
  readonly heading: string;
}

export interface RerankerPort {
  readonly name: string;
  /** How many of the first passages it gets; 50 if absent. */
  readonly topN?: number | undefined;
  /**
   * A relevance from 0 to 1 for each passage, in the order of the passages. It becomes the score of
   * the hit.
   */
  rerank(
    query: string,
    passages: readonly RerankedPassage[],
    call: PortCall,
  ): Promise<readonly number[]>;
}

const checks: MemberChecks<RerankerPort> = {
  name: aName,
  topN: orAbsent(wholeNumber(1, limits.search.candidatesMax)),
  rerank: aFunction,
};

export function checkReranker(value: unknown): RerankerPort {
  return checkPort(value, checks, { from: 'open({ reranker })', what: 'reranker' });
}

const topNDefault = 50;

export function pluggedReranker(port: RerankerPort): Reranker {
  const { name, topN = topNDefault } = port;
  return {
    name,
    topN,
    async relevances(query, passages, { signal }) {
      const given = await callPort(
        `rerank of ${name}`,
        () => port.rerank(query, passages, { signal }),
        signal,
      );
      const count = Array.isArray(given) ? given.length : 0;
      if (count !== passages.length) {
        const expected = `${passages.length} passages`;
        const message = `rerank of ${name} returned ${count} scores for ${expected}`;
        throw new Failure('step_output_invalid', message);
      }
      const isScore = (value: unknown): boolean =>
        typeof value === 'number' && value >= 0 && value <= 1;
      if (given.every(isScore)) return given;
      const message = `rerank of ${name} returned a score that is not between 0 and 1`;
      throw new Failure('step_output_invalid', message);
    },
  };
}
