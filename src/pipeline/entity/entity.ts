/**
 * `entity_extracted`: the entities of the document, their mentions, and which are named together.
 */
import { limits } from '../../kernel/limits/limits.ts';
import { insertEntities } from '../../store/document/entities.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { releaseReservation } from '../../store/money/budgets.ts';
import { charge } from '../../store/money/spending.ts';
import { chunksOf } from '../chunk/chunk.ts';
import type { Chunker } from '../chunk/chunker.ts';
import { checkOrigin, type RecordFirstUse } from '../corpus-origin.ts';
import type { PipelineItem, StepContext, StepFunction, StepResult } from '../pipeline.ts';
import { endWithoutText } from '../pruned-text.ts';
import { textOf } from '../step-memory.ts';
import type { Extraction, ExtractionCosts, Extractor } from './extraction.ts';

export function entityStep(own: Extractor, chunker?: Chunker): StepFunction {
  return async (context) => {
    const extractor = context.tools?.extractor ?? own;
    const text = await textOf(context);
    const chunks = await chunksOf(context, chunker);
    if (!text || !chunks) return endWithoutText(context);
    const recordFirstUse = await checkExtractor(context, extractor);
    const { extraction, detail, costs } = await extractor.extract(
      { text: text.body, pieces: chunks },
      context,
    );
    const rows = rowsOf(extraction);
    return {
      ...(extractor.model !== undefined && { model: extractor.model }),
      ...(costs && !costs.isMetered && usageOf(costs)),
      detail: {
        entities: rows.entities.length,
        ...detail,
        ...(costs?.isMetered && costDetailOf(costs)),
      },
      effect: async (transaction, now) => {
        await recordFirstUse?.(transaction);
        await insertEntities(transaction, context.item.id, rows);
        if (costs?.isMetered) await settle(transaction, { ...context.item, now, costs });
        return undefined;
      },
    };
  };
}

/** Addresses of extractions before they were recorded are unknown: any first use is new. */
export function checkExtractor(
  { item: { caller, corpus }, reader }: StepContext,
  { model = '', origin }: Pick<Extractor, 'model' | 'origin'>,
): Promise<RecordFirstUse | undefined> {
  const sending = { caller, corpus, use: 'entities', model, origin, isBegun: false } as const;
  return checkOrigin(reader, sending);
}

function usageOf({ paid, costCents }: ExtractionCosts): Partial<StepResult> {
  return { tokensIn: paid.input, tokensOut: paid.output, costCents };
}

/** Metered use is already charged with the answers: here it is only reported. */
function costDetailOf({ paid, saved, ...costs }: ExtractionCosts): Record<string, unknown> {
  return {
    tokens_in: paid.input,
    tokens_out: paid.output,
    cost_cents: costs.isPriced ? costs.costCents : null,
    tokens_saved: saved.input + saved.output,
    ...(costs.isPriced && { saved_cents: costs.savedCents }),
  };
}

async function settle(
  transaction: Transaction,
  { id, jobId, now, costs }: PipelineItem & { now: number; costs: ExtractionCosts },
): Promise<void> {
  const tokensSaved = costs.saved.input + costs.saved.output;
  if (tokensSaved > 0) {
    const { savedCents } = costs;
    await charge(transaction, { itemId: id, jobId, now, tokensSaved, savedCents });
  }
  await releaseReservation(transaction, { itemId: id, step: 'entity_extracted' });
}

/** Limited to what is stored. */
function rowsOf({ entities, relations }: Extraction) {
  const { entitiesMax, mentionsPerEntityMax, entityAliasesMax } = limits.document;
  return {
    entities: entities.slice(0, entitiesMax).map(({ kind, name, aliases, mentions }) => ({
      kind,
      name,
      aliases: aliases.slice(0, entityAliasesMax),
      mentions: mentions.length,
      places: mentions.slice(0, mentionsPerEntityMax),
    })),
    relations: relations.filter(({ one, other }) => Math.max(one, other) < entitiesMax),
  };
}
