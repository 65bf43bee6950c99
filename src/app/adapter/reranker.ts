/** Opens the reranker that the settings name. */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { RerankerPort } from '../../port/reranker.ts';
import { endpointReranker, type RerankModel } from '../../provider/rerank/endpoint-reranker.ts';
import {
  type RerankPrice,
  type RerankVendor,
  type RerankWire,
  rerankWires,
} from '../../provider/rerank/wire.ts';

export interface RerankerSettings {
  /** `VENDOR:MODEL`. */
  readonly choice: string;
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly price?: RerankPrice | undefined;
  /** How many of the first passages it reads. */
  readonly topN?: number | undefined;
  readonly requestsPerMinute?: number | undefined;
}

/** Settings have a `choice`; anything else must be a reranker of the user's own. */
export function rerankerSettings(
  given: RerankerSettings | RerankerPort | undefined,
): RerankerSettings | undefined {
  return given !== undefined && 'choice' in Object(given) ? (given as RerankerSettings) : undefined;
}

export function openReranker(settings: RerankerSettings, world: World): RerankModel {
  const { choice, price, requestsPerMinute } = settings;
  const [, vendor = '', model = ''] = /^([a-z]+):(\S+)$/.exec(choice) ?? [];
  if (!Object.hasOwn(rerankWires, vendor)) {
    const forms = Object.keys(rerankWires).map((name) => `${name}:MODEL`);
    const message = `${JSON.stringify(choice)} is no reranker: use ${forms.join(', ')}`;
    throw new Failure('usage_error', message);
  }
  const wire: RerankWire = rerankWires[vendor as RerankVendor];
  const url = settings.url ?? wire.url;
  if (url === undefined) {
    throw new Failure('usage_error', `${choice} needs an address: set PAWL_RERANKER_URL`);
  }
  const { keyVariable } = wire;
  const key = settings.key ?? (keyVariable === undefined ? undefined : process.env[keyVariable]);
  if (key === undefined && settings.url === undefined) {
    const message = `${choice} needs a key: set PAWL_RERANKER_KEY or ${keyVariable}`;
    throw new Failure('usage_error', message);
  }
  const { tokensPerMinute } = limits.rerank;
  return endpointReranker({
    vendor: vendor as RerankVendor,
    model,
    url,
    isNamed: settings.url !== undefined,
    key,
    price,
    world,
    budget: requestsPerMinute === undefined ? undefined : { requestsPerMinute, tokensPerMinute },
  });
}
