/**
 * Defects planted on purpose, to check that the simulation finds them. Each is inserted between the
 * code and its ports: the code itself has no switch for being wrong.
 */
import { defineLifecycle, stepTable } from '../../src/kernel/lifecycle/item.ts';
import type { Pipeline, StepFunction } from '../../src/pipeline/pipeline.ts';
import { flip, getText } from '../../src/store/document/documents.ts';
import type { Database, Transaction } from '../../src/store/driver/database.ts';
import type { Statement } from '../../src/store/driver/statement.ts';
import type { ClaimedRow } from '../../src/store/item/moves.ts';
import type { Plant } from './process.ts';

export interface Planted {
  readonly name: string;
  readonly plant: Plant;
  /** It is searched in runs where most jobs use the batch lane. */
  readonly isCheap?: boolean;
  /** It is searched in runs where processes die all the time. */
  readonly isDeadly?: boolean;
  /** Where the search starts, if it would take long from the first seed. Any other is correct. */
  readonly startSeed?: number;
  /** How many statements it has changed; undefined if it works in another way. */
  readonly matches?: () => number;
}

/** Created for each use: some count. */
export function plantedDefects(): Planted[] {
  return [
    rewritten('the epoch check', [
      [/(items\.progress = :expect[^`]*?) AND items\.epoch = :epoch/, '$1'],
    ]),
    {
      ...rewritten('the fence of a stopped job', [
        [/AND\s+\(SELECT jobs\.state FROM jobs WHERE jobs\.id = items\.job_id\) IN \([^)]*\)/, ''],
      ]),
      startSeed: 14,
    },
    eventsAfterwards(),
    { name: 'the at-or-past check', plant: { ledger: forgetfulLedger } },
    rewritten('the release of dead leases', [
      [/(?<=process_started, beat_at FROM workers)$/, ' WHERE 1 = 0'],
    ]),
    rewritten('the order of generations', [
      [/WHERE excluded\.\w+ > documents\.\w+/, 'WHERE TRUE'],
      [/as_of > :item_id/, 'as_of < 0'],
    ]),
    { name: 'the flip', plant: { pipeline: withEarlyFlip } },
    { name: 'the rendezvous', plant: { pipeline: withoutRendezvous } },
    {
      ...rewritten('the exclusive run of suspects', [
        [/ AND crashes < :crashes_below/, ''],
        [/:alone = 1 AND /, ''],
      ]),
      isDeadly: true,
      startSeed: 45,
    },
    {
      ...rewritten('the stored responses', [
        [/(?<=FROM results WHERE key \{amongKeys\})$/, ' AND 1 = 0'],
        [/(?<=FROM results WHERE results\.key = batch_lines\.key)/, ' AND 1 = 0'],
      ]),
      isCheap: true,
      startSeed: 6,
    },
    {
      ...rewritten('the taking of answered lines', [
        [/^DELETE (?=FROM batch_lines WHERE id .* AND status = 'ok')/, 'SELECT id '],
        [/(?<=^SELECT id FROM batch_lines WHERE id .* AND status = 'ok') RETURNING id/, ''],
      ]),
      isCheap: true,
    },
  ];
}

type Rewrite = readonly [pattern: RegExp, replacement: string];

/** Rewrites the text of statements on their way to the store. */
function rewritten(name: string, rewrites: readonly Rewrite[]): Planted {
  const matches = rewrites.map(() => 0);
  const known = new Map<Statement<unknown>, Statement<unknown>>();
  const rewrite = <S extends Statement<unknown>>(statement: S): S => {
    let changed = known.get(statement);
    if (!changed) {
      changed = statement;
      rewrites.forEach(([pattern, replacement], index) => {
        const text = changed?.text.trim() ?? '';
        if (!pattern.test(text)) return;
        matches[index] = (matches[index] ?? 0) + 1;
        changed = { ...statement, text: text.replace(pattern, replacement) };
      });
      known.set(statement, changed);
    }
    return changed as S;
  };
  const plant: Plant = {
    database: (inner) => ({
      ...inner,
      run: (statement, parameters) => inner.run(rewrite(statement), parameters),
      write: (work) =>
        inner.write((transaction) =>
          work({
            dialect: transaction.dialect,
            sent: () => transaction.sent(),
            run: (statement, parameters) => transaction.run(rewrite(statement), parameters),
            each: (statement, ...rest) => transaction.each(rewrite(statement), ...rest),
            eachLater: (statement, ...rest) => transaction.eachLater(rewrite(statement), ...rest),
            hits: (statement, ...rest) => transaction.hits(rewrite(statement), ...rest),
            runLast: (statement, id) => transaction.runLast(rewrite(statement), id),
          }),
        ),
    }),
  };
  return { name, plant, matches: () => Math.min(...matches) };
}

/** Events are written after the commit: a crash in between loses them. */
function eventsAfterwards(): Planted {
  let matches = 0;
  const database = (inner: Database): Database => ({
    ...inner,
    write: async (work) => {
      const held: ((transaction: Transaction) => Promise<unknown>)[] = [];
      const result = await inner.write((transaction) => {
        held.length = 0; // The work may run again.
        return work({
          dialect: transaction.dialect,
          sent: () => transaction.sent(),
          run: (statement, parameters) => transaction.run(statement, parameters),
          hits: (statement, ...rest) => transaction.hits(statement, ...rest),
          eachLater: (statement, ...rest) => transaction.eachLater(statement, ...rest),
          runLast: (statement, id) => transaction.runLast(statement, id),
          each: async (statement, ...rest) => {
            if (!/INTO events\b/.test(statement.text)) return transaction.each(statement, ...rest);
            matches++;
            held.push((later) => later.each(statement, ...rest));
            return [];
          },
        });
      });
      if (held.length > 0) {
        await inner.write(async (later) => {
          for (const append of held) await append(later);
        });
      }
      return result;
    },
  });
  return { name: 'the event in the transaction', plant: { database }, matches: () => matches };
}

const forgetfulLedger: NonNullable<Plant['ledger']> = (inner) => {
  const forget = (rows: ClaimedRow[]): ClaimedRow[] => rows.map((row) => ({ ...row, progress: 0 }));
  return {
    ...inner,
    claim: async (...request) => forget(await inner.claim(...request)),
  };
};

/** The new generation is visible as soon as its text is stored, before its chunks are. */
function withEarlyFlip(pipeline: Pipeline): Pipeline {
  const chunked = pipeline.steps.chunked as StepFunction;
  const early: StepFunction = async (context) => {
    const result = await chunked(context);
    const { item } = context;
    return {
      ...result,
      effect: async (transaction, now) => {
        const text = await getText(transaction, item.id);
        const shown = {
          id: item.documentId,
          caller: item.caller,
          corpus: item.corpus,
          source: item.source,
          title: text?.title ?? null,
          language: null,
          generation_id: item.id,
          content_hash: text?.content_hash ?? '',
          chunk_count: 0,
          text_bytes: 0,
          kept_share: 1,
        };
        await flip(transaction, shown, now);
        return (await result?.effect?.(transaction, now)) ?? undefined;
      },
    };
  };
  return { ...pipeline, steps: { ...pipeline.steps, chunked: early } };
}

/** `persisted` no longer waits for all branches. */
function withoutRendezvous(pipeline: Pipeline): Pipeline {
  const steps = stepTable.map((row) =>
    row.step === 'persisted' ? { ...row, after: ['chunked'] } : row,
  );
  return { ...pipeline, lifecycle: defineLifecycle(steps) };
}
