/** `entity_extracted`: whom and what the document names, where, and who is named together. */
import { limits } from '../../kernel/limits.ts';
import { getText } from '../../store/documents.ts';
import { insertEntities } from '../../store/entities.ts';
import { chunksOf } from '../chunk/chunk.ts';
import type { StepContext, StepFunction } from '../pipeline.ts';
import { withoutText } from '../superseded.ts';
import type { Extraction, Extractor } from './extraction.ts';

export function entityStep(extractor: Extractor): StepFunction {
  return async (context) => {
    const text = await textOf(context);
    const chunks = await chunksOf(context);
    if (text === undefined || !chunks) return withoutText(context);
    const { extraction, detail, ...costs } = await extractor.extract(
      { text, pieces: chunks },
      context.signal,
    );
    const rows = rowsOf(extraction);
    return {
      ...(extractor.model !== undefined && { model: extractor.model, ...costs }),
      detail: { entities: rows.entities.length, ...detail },
      effect: async (transaction) => {
        await insertEntities(transaction, context.item.id, rows);
        return undefined;
      },
    };
  };
}

async function textOf({ item, reader, scratch }: StepContext): Promise<string | undefined> {
  const held = scratch.get('extracted') as { text: string } | undefined;
  return held?.text ?? (await getText(reader, item.id))?.body;
}

/** Within the bounds of what is stored. */
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
