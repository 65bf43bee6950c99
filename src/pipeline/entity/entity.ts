/** `entity_extracted`: what the document names, found by form alone. */
import { limits } from '../../kernel/limits.ts';
import { type EntityRow, insertEntities } from '../../store/chunks.ts';
import { chunksOf } from '../chunk/chunk.ts';
import type { StepFunction } from '../pipeline.ts';
import { withoutText } from '../superseded.ts';

export const entityStep: StepFunction = async (context) => {
  const chunks = await chunksOf(context);
  if (!chunks) return withoutText(context);
  const entities = entitiesOf(chunks.map(({ text }) => text).join('\n\n'));
  return {
    effect: async (transaction) => {
      await insertEntities(transaction, context.item.id, entities);
      return undefined;
    },
  };
};

const patterns: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['email', /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g],
  ['url', /https?:\/\/[^\s<>"')\]]{1,500}/g],
  ['date', /\b\d{4}-\d{2}-\d{2}\b/g],
  // Two or more capitalised words in a row; a single one may only be the start of a sentence.
  ['name', /(?<![\p{L}\p{N}])\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+){1,4}(?![\p{L}\p{N}])/gu],
];

export function entitiesOf(text: string): EntityRow[] {
  const mentions = new Map<string, { kind: string; name: string; mentions: number }>();
  for (const [kind, pattern] of patterns) {
    for (const [name] of text.matchAll(pattern)) {
      const key = `${kind} ${name}`;
      const known = mentions.get(key);
      if (known) known.mentions++;
      else if (mentions.size < limits.document.entitiesMax) {
        mentions.set(key, { kind, name, mentions: 1 });
      }
    }
  }
  return [...mentions.values()];
}
