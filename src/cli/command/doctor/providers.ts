/** `pawl doctor` checks of models and batch providers. They never cause a charge. */
import { makeProviders, readProviderSettings } from '../../../app/adapter/batch-providers.ts';
import { completerOf, embeddersFor, openaiUrl } from '../../../app/adapter/models.ts';
import type { Config } from '../../../app/settings/config.ts';
import type { BlobStore } from '../../../blob/blob.ts';
import { Failure, failures, toFailure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { allowedHosts } from '../../../pipeline/fetch/address.ts';
import type { BatchProvider } from '../../../provider/batch/batch-provider.ts';
import { listModels } from '../../../provider/openai-models.ts';
import { engineOptions } from '../../engine-options.ts';
import type { Finding } from './doctor.ts';

type Verdict = Pick<Finding, 'verdict' | 'found' | 'advice'>;
type Asking = readonly [check: string, ask: (signal: AbortSignal) => Promise<Verdict>];

export async function checkProviders(config: Config): Promise<Finding[]> {
  // The file of batch providers is checked separately, so that its errors affect no other check.
  const settings = engineOptions({ ...config, batchProviders: undefined });
  const asking: Asking[] = [
    ['embedder', (signal) => checkEmbedder(settings, signal)],
    ['extractor', (signal) => checkExtractor(settings, signal)],
  ];
  const { providers, problem } = await providersOf(config, settings);
  asking.push(
    ...providers.map((each): Asking => [each.name, (signal) => checkBatch(each, signal)]),
  );
  const found = await Promise.all(asking.map(findingOf));
  return [...found, ...problem];
}

async function findingOf([check, ask]: Asking): Promise<Finding> {
  try {
    return { check, ...(await ask(AbortSignal.timeout(limits.sink.searchMs))) };
  } catch (error) {
    return { check, ...failed(error) };
  }
}

function failed(error: unknown): Verdict {
  const { code, message } = toFailure(error);
  return { verdict: 'fail', found: message, advice: failures[code].advice };
}

type Settings = ReturnType<typeof engineOptions>;

async function checkEmbedder({ embedder, world }: Settings, signal: AbortSignal): Promise<Verdict> {
  const [, name] = /^openai:(.+)$/.exec(embedder.choice) ?? [];
  if (name !== undefined) {
    const { url = openaiUrl, key } = embedder;
    return checkModel({ url, key, model: name.replace(/@\d+$/, ''), signal });
  }
  const { embedder: local, close } = embeddersFor(embedder, world);
  try {
    const { model, origin } = local;
    if (origin) {
      const why = 'not asked, because a request may cost money';
      return { verdict: 'ok', found: `${model} at ${origin.url}, ${why}` };
    }
    await local.embed(['ready'], signal);
    return { verdict: 'ok', found: `${local.model}, on this machine` };
  } finally {
    await close();
  }
}

async function checkExtractor(settings: Settings, signal: AbortSignal): Promise<Verdict> {
  const { extractor, world } = settings;
  if (!extractor) return { verdict: 'ok', found: 'rules and word lists, on this machine' };
  // Parsing fails on the same errors as at the start of Pawl.
  await completerOf(extractor, { world }).close?.();
  const { model, url, key } = extractor;
  return checkModel({ url: url ?? openaiUrl, key, model, signal });
}

interface ModelAsking {
  readonly url: string;
  readonly key: string | undefined;
  readonly model: string;
  readonly signal: AbortSignal;
}

async function checkModel({ model, ...question }: ModelAsking): Promise<Verdict> {
  const { host } = new URL(question.url);
  const names = await listModels(question);
  if (names === undefined) {
    const found = `${host} responds; it has no list of models, so ${model} was not checked`;
    return { verdict: 'ok', found };
  }
  // Some providers add a version to the name.
  if (names.some((name) => name === model || name.startsWith(`${model}:`))) {
    return { verdict: 'ok', found: `${host} lists ${model}` };
  }
  const found = `${host} responds, but does not list ${model}`;
  const advice = 'correct the name of the model, unless the server accepts unlisted models';
  return { verdict: 'warn', found, advice };
}

async function checkBatch(provider: BatchProvider, signal: AbortSignal): Promise<Verdict> {
  const { check } = provider;
  if (!check) return { verdict: 'ok', found: 'not checked: every request to it would start a job' };
  return { verdict: 'ok', found: await check(signal) };
}

async function providersOf({ batchProviders: path }: Config, { allowHosts = [], world }: Settings) {
  if (path === undefined) return { providers: [], problem: [] };
  try {
    const reach = { world, allowed: allowedHosts(allowHosts), blobs: nowhere };
    return { providers: await makeProviders(readProviderSettings(path), reach), problem: [] };
  } catch (error) {
    return { providers: [], problem: [{ check: 'batch', ...failed(error) }] };
  }
}

/** The check sends no recording. */
const refuse = (): Promise<never> =>
  Promise.reject(new Failure('source_missing', 'checks do not store results'));
const nowhere: BlobStore = { put: refuse, get: refuse };
