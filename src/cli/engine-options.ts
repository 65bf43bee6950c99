/** What the configuration says to the engine, whether a command or the service runs it. */

import { readProviderSettings } from '../app/adapter/batch-providers.ts';
import type { Config } from '../app/settings/config.ts';
import { realWorld } from '../app/world.ts';
import type { EmbedderSettings, OpenOptions } from '../index.ts';
import { failpointHook } from '../observe/failpoint-hook.ts';

export function engineOptions(config: Config) {
  const hook = config.failpoint === undefined ? undefined : failpointHook(config.failpoint);
  return {
    data: config.data,
    databaseUrl: config.databaseUrl,
    allowHosts: config.allowHosts,
    extractor: extractorOf(config),
    browser: config.browser,
    render: config.render,
    pace: config.pace,
    // With 0 a service does no work; a command that works does so with the usual number.
    places: config.workers === 0 ? undefined : config.workers,
    embedder: embedderOf(config),
    batchProviders: providersOf(config),
    batchPollMs: config.batchPollSeconds * 1000,
    blobs: blobsOf(config),
    sinks: sinksOf(config),
    pgvector: config.pgvector,
    world: realWorld(hook),
  };
}

function blobsOf(config: Config) {
  const { blobUrl: url, blobEndpoint: endpoint, blobRegion: region } = config;
  const { blobKeyId: keyId, blobSecret: secret, blobSession: session } = config;
  return url === undefined ? undefined : { url, endpoint, region, keyId, secret, session };
}

function sinksOf(config: Config) {
  const { qdrantUrl, qdrantKey: key, qdrantPrefix: prefix } = config;
  const { neo4jUrl, neo4jUser: user, neo4jPassword: password, neo4jDatabase: database } = config;
  return {
    qdrant: qdrantUrl === undefined ? undefined : { url: qdrantUrl, key, prefix },
    neo4j: neo4jUrl === undefined ? undefined : { url: neo4jUrl, user, password, database },
  };
}

function providersOf({ batchProviders }: Config): OpenOptions['batchProviders'] {
  return batchProviders === undefined ? undefined : readProviderSettings(batchProviders);
}

function extractorOf(config: Config) {
  const { extractor, extractorUrl: url, extractorKey: key, extractorPrice: prices } = config;
  const [, model] = /^openai:(.+)$/.exec(extractor) ?? [];
  const budget = {
    requestsPerMinute: config.extractorRequests,
    tokensPerMinute: config.extractorTokens,
  };
  return model === undefined ? undefined : { model, url, key, prices, budget };
}

function embedderOf(config: Config): EmbedderSettings {
  const { embedder: choice, embedderUrl: url, embedderKey: key, embedderPrice } = config;
  const budget = {
    requestsPerMinute: config.embedderRequests,
    tokensPerMinute: config.embedderTokens,
  };
  return { choice, url, key, centsPerMillionTokens: embedderPrice, budget };
}
