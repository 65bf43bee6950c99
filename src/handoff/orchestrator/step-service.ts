/**
 * Decides which service a step will use, so that it has a slot there before it runs: a running step
 * reserves money and opens a request.
 */
import type { StepService } from '../../kernel/lifecycle/stage.ts';
import type { DocumentLane } from '../../pipeline/document.ts';
import { inlineInput } from '../../pipeline/extract/extract.ts';
import { isRecording } from '../../pipeline/fetch/http/media-type.ts';
import type { Pipeline, StepPlace } from '../../pipeline/pipeline.ts';
import { isCheapLane } from '../../store/batch/lines.ts';
import { getFetch } from '../../store/crawl/fetches.ts';
import { getInput } from '../../store/item/items.ts';
import type { IsHere } from './remote.ts';

export interface StepServiceOptions {
  readonly isHere: IsHere;
  /** Steps in the batch lane use no service. */
  readonly lane?: DocumentLane | undefined;
}

export function servicesOf(options: StepServiceOptions): Pick<Pipeline, 'serviceOf' | 'expected'> {
  return {
    serviceOf: async (step, place) => (await rules[step]?.(place, options)) ?? 'here',
    expected: (next, sourceKind) => {
      if (next.includes('fetched')) return sourceKind === 'url' ? 'scraping' : 'here';
      // An unchunked document is chunked first, before it waits for a service.
      const isEmbeddedNext = next.some((step) => embeddingSteps.has(step));
      return isEmbeddedNext && !next.includes('chunked') ? 'embedding' : 'here';
    },
  };
}

type Rule = (place: StepPlace, options: StepServiceOptions) => Promise<StepService>;

const rules: Readonly<Record<string, Rule>> = {
  fetched: async ({ item }) => (item.sourceKind === 'url' ? 'scraping' : 'here'),
  content_extracted: async (place, { isHere }) => {
    const isStored = ['reembed', 'rechunk'].includes(place.item.sourceKind);
    return isStored || (await isTextHere(place, isHere)) ? 'here' : 'scraping';
  },
  embedded: (place, { lane }) => embeddingUnless(place, lane?.embeddings !== undefined),
  entity_extracted: async (place, { lane }) =>
    place.item.sourceKind === 'reembed'
      ? 'here'
      : embeddingUnless(place, lane?.entities !== undefined),
};

const embeddingSteps: ReadonlySet<string> = new Set(['embedded', 'entity_extracted']);

async function embeddingUnless(
  { item, reader }: StepPlace,
  hasLane: boolean,
): Promise<StepService> {
  return hasLane && (await isCheapLane(reader, item.jobId)) ? 'here' : 'embedding';
}

/** Whether the text came with the page, or can be extracted here. */
async function isTextHere({ item, reader, scratch }: StepPlace, isHere: IsHere): Promise<boolean> {
  if (scratch.has('read')) return true;
  if (item.sourceKind === 'inline') {
    const input = await getInput(reader, item.id);
    return !input || isHere(inlineInput(item.source, input));
  }
  const held = scratch.get('source') as Parameters<IsHere>[0] | undefined;
  const fetched = held ?? (await fetchedInput({ item, reader }));
  return !fetched || isRecording(fetched.mediaType) || isHere(fetched);
}

async function fetchedInput({ item, reader }: Pick<StepPlace, 'item' | 'reader'>) {
  const row = await getFetch(reader, item.id);
  return row && { mediaType: row.media_type, bytes: { length: row.bytes } };
}
