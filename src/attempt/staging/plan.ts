/** Decides what will happen to a staged source, before it is parsed. */
import type { FailureCode } from '../../kernel/failure/failure.ts';

export interface SourceFailure {
  readonly code: FailureCode;
  readonly message: string;
}

export type Plan =
  | { readonly do: 'add' }
  | { readonly do: 'replace' }
  | {
      readonly do: 'skip';
      readonly why: SkipReason;
      readonly of: string;
      /** The plan if the source that it repeats is removed. */
      readonly otherwise?: Plan;
    }
  | { readonly do: 'refuse'; readonly failure: SourceFailure };

export type SkipReason = 'unchanged' | 'in_corpus' | 'in_batch';

export interface Known {
  readonly source: string;
  /** The documents of the corpus with the same bytes, by their sources. */
  readonly sameBytes: readonly string[];
  /** Whether the corpus has a document of this source. */
  readonly isInCorpus: boolean;
  /** The name of an earlier source of this batch with the same bytes. */
  readonly sameInBatch: string | undefined;
}

/** The first matching row decides. */
const rows: readonly (readonly [isSo: (known: Known) => boolean, plan: (known: Known) => Plan])[] =
  [
    [
      ({ source, sameBytes }) => sameBytes.includes(source),
      ({ source }) => ({ do: 'skip', why: 'unchanged', of: source }),
    ],
    [
      ({ sameInBatch }) => sameInBatch !== undefined,
      ({ sameInBatch = '', ...known }) => {
        const otherwise = planFor({ ...known, sameInBatch: undefined });
        return { do: 'skip', why: 'in_batch', of: sameInBatch, otherwise };
      },
    ],
    // The corpus has the text under another name; but an outdated document must still be replaced.
    [
      ({ sameBytes, isInCorpus }) => sameBytes.length > 0 && !isInCorpus,
      ({ sameBytes }) => ({ do: 'skip', why: 'in_corpus', of: sameBytes[0] ?? '' }),
    ],
    [({ isInCorpus }) => isInCorpus, () => ({ do: 'replace' })],
    [() => true, () => ({ do: 'add' })],
  ];

export function planFor(known: Known): Plan {
  const plan = rows.find(([isSo]) => isSo(known))?.[1];
  return plan?.(known) ?? { do: 'add' };
}

export function isToBeRead(plan: Plan | undefined): boolean {
  return plan?.do === 'add' || plan?.do === 'replace';
}

const skipped: Readonly<Record<SkipReason, (of: string) => string>> = {
  unchanged: () => 'skipped: the corpus has exactly this content',
  in_corpus: (of) => `skipped: the corpus has the same content as ${of}`,
  in_batch: (of) => `skipped: it has the same content as ${of}, which is staged as well`,
};

/** One sentence for the person who staged it. */
export function explain(plan: Plan): string {
  if (plan.do === 'skip') return skipped[plan.why](plan.of);
  if (plan.do === 'refuse') return `refused: ${plan.failure.message}`;
  return plan.do === 'replace'
    ? 'will replace the document in the corpus'
    : 'will be added to the corpus';
}
