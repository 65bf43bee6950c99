/**
 * A generation becomes current with the vectors that its corpus needs at that moment, not at the
 * moment when it was embedded: the corpus may have a new model since. Missing vectors are embedded
 * here; later changes are detected under a lock, in the flip itself.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import {
  type CorpusSettings,
  getCorpusSettings,
  holdCorpusSettings,
} from '../../store/corpus/settings.ts';
import { listChunks } from '../../store/document/chunks.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { releaseReservation } from '../../store/money/budgets.ts';
import { chunksOfRun } from '../chunk/chunk.ts';
import type { StepContext, StepResult } from '../pipeline.ts';
import { modelsOf } from '../step-memory.ts';
import {
  detailOf,
  type EmbeddedChunks,
  type EmbedOptions,
  embedChunks,
  writeVectors,
} from './embed.ts';

export interface CompleteVectors {
  /** The vectors that were missing. */
  readonly added: readonly EmbeddedChunks[];
  readonly spent: Pick<StepResult, 'model' | 'tokensIn' | 'costCents' | 'detail'>;
  /** Writes the missing vectors, or refuses the flip if others are missing by now. */
  write(transaction: Transaction, now: number): Promise<void>;
}

export async function completeVectors(
  context: StepContext,
  options: EmbedOptions,
): Promise<CompleteVectors> {
  const { item, reader } = context;
  const needed = wantedBy(await getCorpusSettings(reader, item));
  const present = await modelsOf(context);
  const most = Math.max(0, ...present.values());
  const added: EmbeddedChunks[] = [];
  for (const model of needed) {
    if ((present.get(model) ?? 0) < most) {
      added.push(await embedOwn(context, options, model));
    }
  }
  return {
    added,
    spent: spentOn(added),
    write: async (transaction, now) => {
      const settings = await holdCorpusSettings(transaction, item);
      const has = new Set([...present.keys(), ...added.map(({ model }) => model)]);
      const missing = wantedBy(settings).find((model) => most > 0 && !has.has(model));
      if (missing !== undefined) {
        const message = `${item.corpus} is being embedded with ${missing} since a moment ago`;
        throw new Failure('replaced_meanwhile', message);
      }
      await writeVectors(transaction, added, { item, generationId: item.id, now });
      if (added.some(({ isMetered }) => isMetered)) {
        await releaseReservation(transaction, { itemId: item.id, step: 'embedded' });
      }
    },
  };
}

function wantedBy({ model, next_model }: CorpusSettings): string[] {
  return [model, next_model].filter((name) => name !== null);
}

function spentOn(added: readonly EmbeddedChunks[]): CompleteVectors['spent'] {
  if (added.length === 0) return {};
  return { model: added.map(({ model }) => model).join(', '), detail: detailOf(added) };
}

/** Vectors of one model for the chunks of this generation, which may not be committed yet. */
async function embedOwn(
  context: StepContext,
  options: EmbedOptions,
  model: string,
): Promise<EmbeddedChunks> {
  const chunks = await chunksOfRun(context);
  if (chunks) return embedChunks(context, options, { model, chunks: chunks });
  return embedStored(context, options, { model, generationId: context.item.id });
}

/** Vectors of one model for the stored chunks of a generation. */
export async function embedStored(
  context: StepContext,
  options: EmbedOptions,
  { model, generationId }: { model: string; generationId: number },
): Promise<EmbeddedChunks> {
  const rows = await listChunks(context.reader, generationId);
  const chunks = rows.map((row) => ({ ...row, tokenCount: row.token_count }));
  return embedChunks(context, options, { model, chunks });
}
