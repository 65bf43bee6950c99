/** The options that the settings give, for a command and for the service. */

import { join } from 'node:path';
import { readProviderSettings } from '../app/adapter/batch-providers.ts';
import type { AnswererOptions, EmbedderSettings, ExtractorOptions } from '../app/adapter/models.ts';
import type { RerankerSettings } from '../app/adapter/reranker.ts';
import type { SinkSettings } from '../app/adapter/sinks.ts';
import type { PawlOptions } from '../app/options.ts';
import type { Config } from '../app/settings/config.ts';
import { realWorld } from '../app/world.ts';
import { failpointHook } from '../observe/failpoint-hook.ts';

export function engineOptions(config: Config) {
  const hook = config.failpoint === undefined ? undefined : failpointHook(config.failpoint);
  const { batchProviders } = config;
  return {
    data: config.data,
    database: config.databaseUrl,
    // 0 makes a service idle. A command that does work uses the default.
    workers: config.workers === 0 ? undefined : config.workers,
    allowHosts: config.allowHosts,
    embedder: embedderOf(config),
    extractor: extractorOf(config),
    reranker: rerankerOf(config),
    answerer: answererOf(config),
    browser: config.browser,
    render: config.render,
    pace: config.pace,
    batchProviders: batchProviders === undefined ? undefined : readProviderSettings(batchProviders),
    batchPollMs: config.batchPollSeconds * 1000,
    blobs: blobsOf(config),
    bucketKeys: bucketKeysOf(config),
    sinks: sinksOf(config),
    pgvector: config.pgvector,
    world: realWorld(hook),
  } satisfies PawlOptions;
}

function blobsOf(config: Config): PawlOptions['blobs'] {
  if (config.blobUrl === undefined) return undefined;
  return {
    url: config.blobUrl,
    endpoint: config.blobEndpoint,
    region: config.blobRegion,
    keyId: config.blobKeyId,
    secret: config.blobSecret,
    session: config.blobSession,
  };
}

function bucketKeysOf(config: Config): PawlOptions['bucketKeys'] {
  const { bucketKeyId: keyId, bucketSecret: secret } = config;
  if (keyId === undefined || secret === undefined) return undefined;
  return { keyId, secret, session: config.bucketSession, region: config.bucketRegion };
}

function sinksOf(config: Config): SinkSettings {
  const { qdrantUrl, qdrantKey: key, qdrantPrefix: prefix } = config;
  const { neo4jUrl, neo4jUser: user, neo4jPassword: password, neo4jDatabase: database } = config;
  return {
    qdrant: qdrantUrl === undefined ? undefined : { url: qdrantUrl, key, prefix },
    neo4j: neo4jUrl === undefined ? undefined : { url: neo4jUrl, user, password, database },
  };
}

function extractorOf(config: Config): ExtractorOptions | undefined {
  const [, model] = /^openai:(.+)$/.exec(config.extractor) ?? [];
  if (model === undefined) return undefined;
  return {
    model,
    url: config.extractorUrl,
    key: config.extractorKey,
    prices: config.extractorPrice,
    budget: {
      requestsPerMinute: config.extractorRequests,
      tokensPerMinute: config.extractorTokens,
    },
  };
}

function answererOf(config: Config): AnswererOptions | undefined {
  const [, model] = /^openai:(.+)$/.exec(config.answerer) ?? [];
  if (model === undefined) return undefined;
  return {
    model,
    url: config.answererUrl,
    key: config.answererKey,
    prices: config.answererPrice,
    budget: {
      requestsPerMinute: config.answererRequests,
      tokensPerMinute: config.answererTokens,
    },
  };
}

function rerankerOf(config: Config): RerankerSettings | undefined {
  if (config.reranker === 'off') return undefined;
  return {
    choice: config.reranker,
    url: config.rerankerUrl,
    key: config.rerankerKey,
    price: config.rerankerPrice,
    topN: config.rerankerTop,
    requestsPerMinute: config.rerankerRequests,
  };
}

export function modelsFolderOf({ data }: Config): string {
  return join(data, 'models');
}

function embedderOf(config: Config): EmbedderSettings {
  return {
    choice: config.embedder,
    models: modelsFolderOf(config),
    url: config.embedderUrl,
    key: config.embedderKey,
    centsPerMillionTokens: config.embedderPrice,
    budget: {
      requestsPerMinute: config.embedderRequests,
      tokensPerMinute: config.embedderTokens,
    },
  };
}
