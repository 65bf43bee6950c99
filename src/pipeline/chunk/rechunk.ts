/**
 * Splits documents again whose corpus has other values than they were split by. The text of the
 * current generation is copied: nothing is fetched or read again. From there the item is like any
 * other, and the document is searched as it was until the new generation is complete.
 */

import { addToRechunk } from '../../store/corpus/rechunking.ts';
import { getCorpusSettings } from '../../store/corpus/settings.ts';
import { copyFetch } from '../../store/crawl/fetches.ts';
import {
  awaitsNewerText,
  getDocument,
  getText,
  writeText,
} from '../../store/document/documents.ts';
import type { StepContext, StepResult } from '../pipeline.ts';
import { holdIsMail, holdText } from '../step-memory.ts';

export async function copyTextStep(context: StepContext): Promise<StepResult> {
  const copied = await copyText(context);
  return {
    ...copied,
    effect: async (transaction, now) => {
      await copied.effect?.(transaction, now);
      await addToRechunk(transaction, context.item, now);
      return undefined;
    },
  };
}

async function copyText({ item, reader, scratch }: StepContext): Promise<StepResult> {
  const document = await getDocument(reader, item.documentId);
  const { chunking } = await getCorpusSettings(reader, item);
  // Deleted, or split by these values since.
  if (!document || document.chunking === chunking) return { unchanged: true };
  // That submission splits its text by these values, or adds an item like this one.
  if (await awaitsNewerText(reader, item)) return { unchanged: true };
  const from = document.generation_id;
  const text = await getText(reader, from);
  // Replaced at this moment: that generation is checked when it becomes current.
  if (!text) return { unchanged: true };
  const row = { ...text, generation_id: item.id, chunking, copied_from: from };
  holdText(scratch, row);
  // The files of a mail are the same.
  holdIsMail(scratch, false);
  return {
    effect: async (transaction, now) => {
      await writeText(transaction, row, now);
      await copyFetch(transaction, { from, to: item.id });
      return undefined;
    },
  };
}
