/**
 * Text and queries are sent only to the address that a corpus knows. The check comes before any DNS
 * lookup or request; a first use is recorded in the commit of its result.
 */
import { Failure } from '../kernel/failure/failure.ts';
import { vendorModel } from '../kernel/name/embedder-vendor.ts';
import { decideOrigin, embedUse, type Origin, type OriginUse } from '../kernel/name/origin.ts';
import type { Embedder } from '../provider/embedding/embedding.ts';
import { getOrigin, recordOrigin } from '../store/corpus/origins.ts';
import type { CorpusKey } from '../store/corpus/settings.ts';
import type { Reader, Transaction } from '../store/driver/database.ts';

export interface Sending extends CorpusKey {
  readonly use: OriginUse;
  /** The name of a model or a provider. */
  readonly model: string;
  /** Undefined if it computes in this process and sends nothing. */
  readonly origin: Origin | undefined;
  /** Whether such text of the corpus was sent before. */
  readonly isBegun: boolean;
}

/** Records the address of a first use. */
export type RecordFirstUse = (transaction: Transaction) => Promise<void>;

/** Refuses an address that the corpus does not know. Undefined if there is nothing to record. */
export async function checkOrigin(
  reader: Reader,
  { caller, corpus, use, model, origin, isBegun }: Sending,
): Promise<RecordFirstUse | undefined> {
  if (!origin) return undefined;
  const key = { caller, corpus, use };
  const recorded = await getOrigin(reader, key);
  const decision = decideOrigin({ recorded, configured: origin, isBegun });
  if (decision === 'same') return undefined;
  if (decision !== 'record') throw refusal({ corpus, use, model, recorded, origin });
  return async (transaction) => {
    const holding = await recordOrigin(transaction, { ...key, url: origin.url });
    const facts = { recorded: holding, configured: origin, isBegun };
    if (decideOrigin(facts) === 'same') return;
    const message = `${corpus} was begun at ${holding} while this was computed at ${origin.url}`;
    throw new Failure('replaced_meanwhile', message);
  };
}

export interface CorpusEmbedders {
  /** The configured embedder, used for new corpora. */
  readonly embedder: Embedder;
  /** Embedders of other models, for corpora that were started with them at this address. */
  readonly otherEmbedder?: ((model: string, url?: string) => Embedder | undefined) | undefined;
}

export interface CorpusEmbedder {
  readonly embedder: Embedder;
  readonly recordFirstUse: RecordFirstUse | undefined;
}

/** The embedder of a model for a corpus, if this process is configured for its address. */
export async function corpusEmbedder(
  reader: Reader,
  { caller, corpus, model, isBegun }: CorpusKey & { model: string; isBegun: boolean },
  { embedder: own, otherEmbedder }: CorpusEmbedders,
): Promise<CorpusEmbedder> {
  const use = embedUse(model);
  const recorded =
    model === own.model ? undefined : await getOrigin(reader, { caller, corpus, use });
  const embedder = model === own.model ? own : otherEmbedder?.(model, recorded);
  if (!embedder) throw refusal({ corpus, use, model, recorded, origin: undefined });
  const { origin } = embedder;
  const sending = { caller, corpus, use, model, origin, isBegun };
  return { embedder, recordFirstUse: await checkOrigin(reader, sending) };
}

interface Refused extends Pick<Sending, 'corpus' | 'use' | 'model' | 'origin'> {
  readonly recorded: string | undefined;
}

function refusal({ corpus, use, model, recorded, origin }: Refused): Failure {
  const known = recorded === undefined ? model : `${model} at ${recorded}`;
  const here = origin ? `this process would send it to ${origin.url}` : 'which is not configured';
  const verb = use === 'rerank' || use === 'answers' ? 'sent to' : 'computed with';
  const accept = `accept the configured address with \`pawl corpora origins ${corpus} --accept\``;
  const message =
    `text of ${corpus} is ${verb} ${known}, ${origin ? 'and ' : ''}${here}: nothing was ` +
    `sent. ${settingsFor(use, model, recorded)}${origin ? `, or ${accept}` : ''}`;
  return new Failure('origin_not_configured', message);
}

function settingsFor(use: OriginUse, model: string, url: string | undefined): string {
  const to = url === undefined ? ' to the address that computed it' : `=${url}`;
  if (use === 'recordings') return `Configure ${model} at ${url} in PAWL_BATCH_PROVIDERS`;
  if (use === 'entities') return `Set PAWL_EXTRACTOR=openai:${model} and PAWL_EXTRACTOR_URL${to}`;
  if (use === 'rerank') return `Set PAWL_RERANKER=${model} and PAWL_RERANKER_URL${to}`;
  if (use === 'answers') return `Set PAWL_ANSWERER=${model} and PAWL_ANSWERER_URL${to}`;
  if (model.startsWith('onnx:')) return 'Set PAWL_EMBEDDER=onnx:FOLDER to the folder of the model';
  const search = 'or search with --mode keyword';
  if (url !== undefined && vendorModel(model)) {
    return `Set PAWL_EMBEDDER=${model} and PAWL_EMBEDDER_URL${to}, ${search}`;
  }
  if (url === undefined) {
    // No address is recorded for an embedder that a program has passed to `open()`.
    const own = `Pass the embedder of ${model} to open({ embedder })`;
    return `${own}, or set PAWL_EMBEDDER=openai:${model} and PAWL_EMBEDDER_URL${to}, ${search}`;
  }
  return `Set PAWL_EMBEDDER=openai:${model} and PAWL_EMBEDDER_URL${to}, ${search}`;
}
