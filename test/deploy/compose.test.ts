/** The compose files: complete, closed to the outside, and with known settings. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadConfig } from '../../src/app/settings/config.ts';
import { type Key, settings } from '../../src/app/settings/settings.ts';
import {
  bytesOf,
  type ComposeService,
  deployFolder,
  interpolate,
  readCompose,
  readDeploy,
  readExample,
  readRoot,
  variablesIn,
} from './deploy-files.ts';

const compose = readCompose('compose.yaml', readExample());
const services = Object.entries(compose.services);
const composeNames = ['compose', 'compose.traefik', 'callers/keys', 'callers/membership'];
const composeFiles = composeNames.map((name) => `${name}.yaml`);
const roles = ['orchestrator', 'scraper', 'chunking', 'embedding'] as const;
type Role = (typeof roles)[number];
const roleServices = roles.map((role): [Role, ComposeService] => [
  role,
  compose.services[role] as ComposeService,
]);

const everybody: readonly Role[] = roles;
const modelled: readonly Role[] = ['orchestrator', 'embedding'];
const fetching: readonly Role[] = ['orchestrator', 'scraper'];
const outside: readonly Role[] = ['orchestrator', 'scraper', 'embedding'];
const orchestrator: readonly Role[] = ['orchestrator'];
const nobody = undefined;

/** The roles that read a setting; none, if the image or the command sets it. */
const readers: Readonly<Record<Key, readonly Role[] | undefined>> = {
  ...{ role: nobody, data: nobody, host: nobody, port: nobody },
  // Settings of commands, of a shared Redis, and of tests.
  ...{ key: nobody, corpus: nobody, redisUrl: nobody, failpoint: nobody },
  ...{ apiKeys: everybody, membershipUrl: everybody, internalKey: everybody },
  ...{ internalCallerIds: everybody, rateCapacity: everybody, rateFloor: everybody },
  ...{ rateTiers: everybody, queueDepthMax: everybody },
  ...{ log: everybody, otlpUrl: everybody },
  // Chunking works on one text at a time.
  ...{ redisOrchUrl: everybody, workers: outside },
  ...{ redisScrapeUrl: fetching, redisEmbedUrl: modelled },
  ...{ orchestratorUrl: ['scraper', 'embedding'], chunkingUrl: orchestrator },
  ...{ allowHosts: fetching, pace: orchestrator, browser: fetching, render: fetching },
  ...{ databaseUrl: modelled, qdrantUrl: modelled, qdrantKey: modelled, qdrantPrefix: modelled },
  pgvector: modelled,
  ...{ neo4jUrl: orchestrator, neo4jUser: orchestrator, neo4jPassword: orchestrator },
  ...{ neo4jDatabase: orchestrator, webhookSecret: orchestrator, corsOrigins: orchestrator },
  ...{ batchProviders: orchestrator, batchPollSeconds: orchestrator },
  ...{ blobUrl: outside, blobEndpoint: outside, blobRegion: outside },
  ...{ blobKeyId: outside, blobSecret: outside, blobSession: outside },
  // A service with keys follows no buckets.
  ...{ bucketKeyId: nobody, bucketSecret: nobody, bucketSession: nobody, bucketRegion: nobody },
  ...{ embedder: modelled, embedderUrl: modelled, embedderKey: modelled },
  ...{ embedderPrice: modelled, embedderRequests: modelled, embedderTokens: modelled },
  ...{ extractor: modelled, extractorUrl: modelled, extractorKey: modelled },
  ...{ reranker: orchestrator, rerankerUrl: orchestrator, rerankerKey: orchestrator },
  ...{ rerankerPrice: orchestrator, rerankerTop: orchestrator, rerankerRequests: orchestrator },
  ...{ answerer: orchestrator, answererUrl: orchestrator, answererKey: orchestrator },
  ...{ answererPrice: orchestrator, answererRequests: orchestrator },
  answererTokens: orchestrator,
  ...{ extractorPrice: modelled, extractorRequests: modelled, extractorTokens: modelled },
};

/** Names of the compose network, and the user of its Neo4j. */
const fixed = /^(?:(?:redis|http|bolt):\/\/[a-z0-9-]+:\d+|neo4j)$/;

/** Images with their own user or with root, and the reason. */
const users: Readonly<Record<string, string>> = {
  qdrant: 'the image "unprivileged" has a user of its own',
  alloy: 'reads the socket of Docker, which is as good as root in any case',
};

describe('compose.yaml', () => {
  test('has four roles of one image, and their dependencies', () => {
    const stores = ['postgres', 'redis-orch', 'redis-scrape', 'redis-embed', 'qdrant', 'neo4j'];
    assert.deepEqual(
      Object.keys(compose.services).sort(),
      [...roles, ...stores, 'gateway', 'alloy'].sort(),
    );
    for (const [role, { image, command, build }] of roleServices) {
      assert.equal(image, '${PAWL_IMAGE:-pawl:local}');
      assert.deepEqual(command, ['serve', '--role', role, '--no-sample']);
      assert.ok(existsSync(join(deployFolder, build?.context ?? '', 'Dockerfile')));
    }
  });

  test('publishes only the gateway', () => {
    const published = services.filter(([, { ports }]) => ports !== undefined);
    assert.deepEqual(
      published.map(([name]) => name),
      ['gateway'],
    );
    for (const store of ['services', 'stores', 'counting']) {
      assert.equal(compose.networks?.[store]?.internal, true, store);
    }
    const reachable = services.filter(([, { networks }]) => networks?.includes('edge'));
    assert.deepEqual(
      reachable.map(([name]) => name),
      ['gateway'],
    );
  });

  test('runs nothing as root, with a writable image, or with new privileges', () => {
    for (const [name, service] of services) {
      const { read_only, cap_drop, security_opt, restart, mem_limit, user, image } = service;
      assert.equal(read_only, true, name);
      assert.deepEqual(cap_drop, ['ALL'], name);
      assert.deepEqual(security_opt, ['no-new-privileges:true'], name);
      assert.equal(restart, 'unless-stopped', name);
      assert.ok(mem_limit, `${name} has no bound of memory`);
      if (users[name] === undefined) assert.match(user ?? '', /^[1-9]\d*:[1-9]\d*$/, name);
      if (image?.includes('$') === false) assert.match(image, /:v?\d+\.\d+/, `${name}: ${image}`);
    }
  });

  test('has a health check for every service, and waits for it', () => {
    for (const [name, { healthcheck, image, depends_on = {} }] of services) {
      assert.ok(healthcheck ?? image?.includes('PAWL_IMAGE'), `${name} is never asked`);
      for (const [other, { condition, required = true }] of Object.entries(depends_on)) {
        assert.ok(compose.services[other], `${name} waits for ${other}`);
        assert.equal(condition, 'service_healthy');
        // Compose refuses to wait for a service that no profile starts.
        assert.equal(required, compose.services[other]?.profiles === undefined, other);
      }
    }
    assert.match(readRoot('Dockerfile'), /^HEALTHCHECK /m);
  });

  test('starts Qdrant, Neo4j and Alloy only with their profiles', () => {
    const optional = services.filter(([, { profiles }]) => profiles !== undefined);
    const profiles = optional.map(([name, service]) => [name, service.profiles]);
    assert.deepEqual(Object.fromEntries(profiles), {
      ...{ qdrant: ['qdrant'], neo4j: ['neo4j'], alloy: ['observe'] },
    });
  });

  test('fits in 8 GB, and no tmpfs is larger than its memory limit', () => {
    let sum = 0;
    for (const [name, { mem_limit = '', profiles, tmpfs = [] }] of services) {
      const limit = bytesOf(interpolate(mem_limit, new Map()));
      if (!profiles) sum += limit;
      for (const [, size = ''] of tmpfs.join(' ').matchAll(/size=(\w+)/g)) {
        assert.ok(bytesOf(size) < limit, `${name}: ${size}`);
      }
    }
    assert.ok(sum <= 8e9, `${sum} bytes`);
    for (const [name, value] of readExample()) {
      if (!/_(?:MEMORY|MAXMEMORY|BUFFERS)$/.test(name)) continue;
      assert.ok(readDeploy('compose.yaml').includes(`\${${name}:-${value}}`), name);
    }
  });

  test('lets chunking reach Membership and the request counters, and no other store', () => {
    const reached = (name: string): string[] =>
      services
        .filter(([, { networks = [] }]) =>
          networks.some((network) => compose.services[name]?.networks?.includes(network)),
        )
        .map(([other]) => other);
    assert.ok(compose.services.chunking?.networks?.includes('outside'));
    assert.equal(compose.networks?.outside?.internal, undefined);
    const stores = reached('chunking').filter((name) =>
      /^(?:postgres|redis|qdrant|neo4j)/.test(name),
    );
    assert.deepEqual(stores, ['redis-orch']);
  });

  test('configures Redis without eviction and with persistence', () => {
    for (const name of ['redis-orch', 'redis-scrape', 'redis-embed']) {
      const command = compose.services[name]?.command?.join(' ') ?? '';
      assert.match(command, /--maxmemory-policy noeviction --appendonly yes/, name);
      assert.deepEqual(compose.services[name]?.volumes, [`${name}:/data`]);
    }
  });

  test('names files, volumes and networks that exist', () => {
    for (const [name, { volumes = [], networks = [] }] of services) {
      for (const network of networks) assert.ok(network in (compose.networks ?? {}), network);
      for (const volume of volumes) {
        const [from = ''] = interpolate(volume, new Map()).split(':');
        const isThere = from.startsWith('.')
          ? existsSync(join(deployFolder, from))
          : ['/dev/null', '/var/run/docker.sock'].includes(from) || from in (compose.volumes ?? {});
        assert.ok(isThere, `${name}: ${from}`);
      }
    }
  });
});

describe('the settings of the roles', () => {
  const given = new Map([...readExample()].map(([name, value]) => [name, value || sampleOf(name)]));

  for (const [role, { environment = {} }] of roleServices) {
    test(`${role} gets only settings that Pawl knows and accepts`, () => {
      const told = Object.entries(environment).map(([name, text]): [string, string] => [
        name,
        interpolate(text, given),
      ]);
      const { warnings } = loadConfig({ environment: Object.fromEntries(told) });
      assert.deepEqual(warnings, []);
    });
  }

  for (const [role, { environment = {} }] of roleServices) {
    test(`${role} gets exactly the settings that it reads`, () => {
      const wanted = Object.entries(readers)
        .filter(([, who]) => who?.includes(role))
        .map(([key]) => settings[key as Key].variable);
      assert.deepEqual(Object.keys(environment).sort(), wanted.sort());
    });
  }

  test('can all be set, except those that the files fix', () => {
    const example = readExample();
    const isOpen = (text: string): boolean => variablesIn(text).some((name) => example.has(name));
    for (const [key, who] of Object.entries(readers)) {
      const { variable } = settings[key as Key];
      const told = (who ?? []).map((role) => compose.services[role]?.environment?.[variable] ?? '');
      for (const text of told) assert.ok(isOpen(text) || fixed.test(text), `${variable}: ${text}`);
    }
  });

  test('come from example.env, which has no usable secret', () => {
    const example = readExample();
    const used = composeFiles.flatMap((name) => variablesIn(readDeploy(name)));
    // Compose itself reads the last one.
    const known = [...new Set([...used, 'COMPOSE_PROFILES'])];
    assert.deepEqual(known.sort(), [...example.keys()].sort());
    for (const [name, value] of example) {
      if (/PASSWORD|KEY|SECRET/.test(name)) assert.equal(value, '', name);
    }
  });

  const needed = ['POSTGRES_PASSWORD', 'PAWL_INTERNAL_KEY', 'PAWL_API_KEYS'];
  const filled = new Map(
    [...readExample()].map(([name, value]) => [
      name,
      needed.includes(name) ? sampleOf(name) : value,
    ]),
  );
  const startWith = (changes: Readonly<Record<string, string>>) => (): string => {
    const values = new Map([...filled, ...Object.entries(changes)]);
    return interpolate(JSON.stringify(readCompose('compose.yaml', values)), values);
  };

  test('are complete with three secrets, and configure neither Qdrant nor Neo4j', () => {
    assert.doesNotThrow(startWith({}));
    for (const [role, { environment = {} }] of roleServices) {
      for (const name of ['PAWL_QDRANT_URL', 'PAWL_NEO4J_URL']) {
        assert.equal(interpolate(environment[name] ?? '', filled), '', `${role}: ${name}`);
      }
    }
  });

  const refusals: Readonly<Record<string, [changes: Record<string, string>, says: RegExp]>> = {
    'no password for Postgres': [{ POSTGRES_PASSWORD: '' }, /^Error: POSTGRES_PASSWORD: set it/],
    'no internal key': [{ PAWL_INTERNAL_KEY: '' }, /^Error: PAWL_INTERNAL_KEY: set it/],
    'no keys': [
      { PAWL_API_KEYS: '' },
      /PAWL_API_KEYS: set it in deploy\/\.env, or set CALLERS=membership and PAWL_MEMBERSHIP_URL/,
    ],
    'no Membership': [
      { CALLERS: 'membership' },
      /PAWL_MEMBERSHIP_URL: set it in deploy\/\.env, or set CALLERS=keys and PAWL_API_KEYS/,
    ],
  };
  for (const [what, [changes, says]] of Object.entries(refusals)) {
    test(`stop the start, and say why: ${what}`, () => {
      assert.throws(startWith(changes), (error) => says.test(String(error)));
    });
  }

  test('start with Membership and without keys', () => {
    const membership = { CALLERS: 'membership', PAWL_MEMBERSHIP_URL: 'http://membership:8081' };
    assert.doesNotThrow(startWith({ ...membership, PAWL_API_KEYS: '' }));
  });

  test('have no nested expressions, because compose would evaluate unused ones', () => {
    for (const name of composeFiles) assert.doesNotMatch(readDeploy(name), /\$\{[^}]*\$\{/, name);
  });

  test('let Qdrant start only with a key', () => {
    assert.match(compose.services.qdrant?.command?.join(' ') ?? '', /test -n "\$\$QDRANT__SERVICE/);
  });
});

/** A valid value for each field that has to be filled in. */
function sampleOf(name: string): string {
  if (/WORKERS$|_RATE_[CF]|_DEPTH_MAX$|_REQUESTS$|_TOKENS$|_SECONDS$|_TOP$/.test(name)) return '20';
  const others: Readonly<Record<string, string>> = {
    PAWL_ALLOW_HOSTS: 'wiki.corp:80',
    PAWL_PACE: 'docs.corp=8/100',
    PAWL_CORS_ORIGINS: 'https://app.example.com',
    PAWL_RATE_TIERS: 'free=600,pro=6000',
    PAWL_BROWSER: 'auto',
    PAWL_RENDER: 'always',
    PAWL_EMBEDDER_PRICE: '2',
    PAWL_EXTRACTOR_PRICE: '15/60',
    PAWL_ANSWERER: 'openai:m',
    PAWL_ANSWERER_PRICE: '15/60',
    PAWL_RERANKER: 'tei:m',
    PAWL_RERANKER_PRICE: '2',
    PAWL_QDRANT_PREFIX: 'pawl-two',
    PAWL_NEO4J_URL: 'bolt://neo4j:7687',
    PAWL_BLOB_URL: 's3://bucket/prefix',
    PAWL_BLOB_REGION: 'eu-west-1',
    PAWL_BLOB_ENDPOINT: 'http://127.0.0.1:9000',
    PAWL_API_KEYS: `sha256:${'a'.repeat(64)}`,
  };
  const other = /_URL$/.test(name) ? 'http://127.0.0.1:8081' : `a-secret-${'x'.repeat(24)}`;
  return others[name] ?? other;
}
