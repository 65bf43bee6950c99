/** The compose files and the image: whole, closed to the outside, and with settings that exist. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { loadConfig } from '../../src/config.ts';
import { type Key, settings } from '../../src/settings.ts';
import {
  type Compose,
  type ComposeService,
  deployFolder,
  interpolate,
  readDeploy,
  readExample,
  readYaml,
  root,
  variablesIn,
} from './deploy-files.ts';
import { type Led, nginxLeads, nginxLimits, traefikLeads, traefikLimits } from './gateway-table.ts';

const compose = readYaml<Compose>('compose.yaml');
const traefik = readYaml<Compose>('compose.traefik.yaml');
const services = Object.entries(compose.services);
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

/** Which roles read a setting; nobody, where the image or the command says it. */
const readers: Readonly<Record<Key, readonly Role[] | undefined>> = {
  ...{ role: nobody, data: nobody, host: nobody, port: nobody },
  // Of commands, of one Redis for everything, and of tests.
  ...{ key: nobody, redisUrl: nobody, failpoint: nobody },
  ...{ apiKeys: everybody, membershipUrl: everybody, internalKey: everybody },
  ...{ internalCallerIds: everybody, rateCapacity: everybody, rateFloor: everybody },
  ...{ rateTiers: everybody, queueDepthMax: everybody },
  ...{ log: everybody, otlpUrl: everybody },
  // Chunking has no way to the stores: it counts requests by itself, and is at one text at a time.
  ...{ redisOrchUrl: outside, workers: outside },
  ...{ redisScrapeUrl: fetching, redisEmbedUrl: modelled },
  ...{ orchestratorUrl: ['scraper', 'embedding'], chunkingUrl: orchestrator },
  ...{ allowHosts: fetching, pace: orchestrator, browser: fetching, render: fetching },
  ...{ databaseUrl: modelled, qdrantUrl: modelled, qdrantKey: modelled, qdrantPrefix: modelled },
  pgvector: modelled,
  ...{ neo4jUrl: orchestrator, neo4jUser: orchestrator, neo4jPassword: orchestrator },
  ...{ neo4jDatabase: orchestrator, webhookSecret: orchestrator },
  ...{ batchProviders: orchestrator, batchPollSeconds: orchestrator },
  ...{ blobUrl: outside, blobEndpoint: outside, blobRegion: outside },
  ...{ blobKeyId: outside, blobSecret: outside, blobSession: outside },
  ...{ embedder: modelled, embedderUrl: modelled, embedderKey: modelled },
  ...{ embedderPrice: modelled, embedderRequests: modelled, embedderTokens: modelled },
  ...{ extractor: modelled, extractorUrl: modelled, extractorKey: modelled },
  ...{ extractorPrice: modelled, extractorRequests: modelled, extractorTokens: modelled },
};

/** Names of the network that compose makes, and the user that its Neo4j has. */
const fixed = /^(?:(?:redis|http|bolt):\/\/[a-z0-9-]+:\d+|neo4j)$/;

/** Images that bring their own user, or need root, with why. */
const users: Readonly<Record<string, string>> = {
  qdrant: 'the image "unprivileged" has a user of its own',
  alloy: 'reads the socket of Docker, which is as good as root in any case',
};

describe('compose.yaml', () => {
  test('has four roles of one image, and what they stand on', () => {
    const stores = ['postgres', 'redis-orch', 'redis-scrape', 'redis-embed', 'qdrant', 'neo4j'];
    assert.deepEqual(
      Object.keys(compose.services).sort(),
      [...roles, ...stores, 'gateway', 'alloy'].sort(),
    );
    for (const [role, { image, command, build }] of roleServices) {
      assert.equal(image, '${PAWL_IMAGE:-pawl:local}');
      assert.deepEqual(command, ['serve', '--role', role, '--no-sample']);
      assert.ok(existsSync(join(deployFolder, build?.context ?? '', build?.dockerfile ?? '')));
    }
  });

  test('publishes the gateway and nothing else', () => {
    const published = services.filter(([, { ports }]) => ports !== undefined);
    assert.deepEqual(
      published.map(([name]) => name),
      ['gateway'],
    );
    for (const store of ['services', 'stores']) {
      assert.equal(compose.networks?.[store]?.internal, true, store);
    }
    const reachable = services.filter(([, { networks }]) => networks?.includes('edge'));
    assert.deepEqual(
      reachable.map(([name]) => name),
      ['gateway'],
    );
  });

  test('lets nothing run as root, write its image, or gain privileges', () => {
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

  test('knows of everything whether it is well, and waits for it', () => {
    for (const [name, { healthcheck, image, depends_on = {} }] of services) {
      assert.ok(healthcheck ?? image?.includes('PAWL_IMAGE'), `${name} is never asked`);
      for (const [other, { condition }] of Object.entries(depends_on)) {
        assert.ok(compose.services[other], `${name} waits for ${other}`);
        assert.equal(condition, 'service_healthy');
      }
    }
    assert.match(readDeploy('Dockerfile'), /^HEALTHCHECK /m);
  });

  test('keeps Redis from forgetting: nothing is evicted, everything is written', () => {
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
    test(`${role} is told nothing that Pawl does not know, and nothing that it refuses`, () => {
      const told = Object.entries(environment).map(([name, text]): [string, string] => [
        name,
        interpolate(text, given),
      ]);
      const { warnings } = loadConfig({ environment: Object.fromEntries(told) });
      assert.deepEqual(warnings, []);
    });
  }

  for (const [role, { environment = {} }] of roleServices) {
    test(`${role} is told all that it reads, and nothing else`, () => {
      const wanted = Object.entries(readers)
        .filter(([, who]) => who?.includes(role))
        .map(([key]) => settings[key as Key].variable);
      assert.deepEqual(Object.keys(environment).sort(), wanted.sort());
    });
  }

  test('can all be given, but for those that the files themselves fix', () => {
    const example = readExample();
    const isOpen = (text: string): boolean => variablesIn(text).some((name) => example.has(name));
    for (const [key, who] of Object.entries(readers)) {
      const { variable } = settings[key as Key];
      const told = (who ?? []).map((role) => compose.services[role]?.environment?.[variable] ?? '');
      for (const text of told) assert.ok(isOpen(text) || fixed.test(text), `${variable}: ${text}`);
    }
  });

  test('come from example.env, which has no secret that works', () => {
    const example = readExample();
    const used = ['compose.yaml', 'compose.traefik.yaml'].flatMap((n) =>
      variablesIn(readDeploy(n)),
    );
    assert.deepEqual([...new Set(used)].sort(), [...example.keys()].sort());
    for (const [name, value] of example) {
      if (/PASSWORD|KEY|SECRET/.test(name)) assert.equal(value, '', name);
    }
  });

  test('stop the start where a secret is missing', () => {
    const text = readDeploy('compose.yaml');
    for (const name of ['POSTGRES_PASSWORD', 'NEO4J_PASSWORD', 'QDRANT_KEY', 'PAWL_INTERNAL_KEY']) {
      const all = [...text.matchAll(new RegExp(`\\$\\{${name}[^}]*\\}`, 'g'))].map(
        ([found]) => found,
      );
      assert.ok(all.length > 0 && all.every((found) => found.includes(':?')), name);
    }
  });
});

describe('compose.traefik.yaml', () => {
  const labels = Object.assign({}, ...Object.values(traefik.services).map((s) => s.labels ?? {}));

  test('takes the gateway’s place, and adds nothing else', () => {
    const added = Object.keys(traefik.services).filter((name) => !(name in compose.services));
    assert.deepEqual(added, ['traefik']);
    assert.deepEqual(traefik.services.gateway, { profiles: ['nginx'] });
    const { read_only, cap_drop, ports } = traefik.services.traefik ?? {};
    assert.deepEqual([read_only, cap_drop, ports?.length], [true, ['ALL'], 1]);
  });

  test('has the limits that nginx has, and no others', () => {
    assert.deepEqual(traefikLimits(), nginxLimits());
  });

  const named = ['', '/api/orchestrator', '/api/scraper', '/api/chunking', '/api/embedding'];
  const paths = [
    ...['/', '/docs', '/jobs', '/jobs/', '/jobs/upload', '/jobs/some-id', '/jobs/some-id/pause'],
    ...['/jobs/some-id/stream', '/stream', '/staging', '/attempt', '/batch/tasks', '/inbox'],
    ...['/inbox/retry', '/inbox/discard', '/corpora', '/corpora/a/reembed', '/corpora/a/budget'],
    ...['/search', '/scrape', '/chunk', '/embed', '/enqueue', '/enqueue/', '/enqueue/some-id'],
    ...['/metrics', '/METRICS'],
    ...['/jobs/some-id/complete', '/jobs/some-id/begin', '/jobs/a/b/heartbeat/', '/healthz'],
  ];

  for (const path of named.flatMap((name) => paths.map((rest) => `${name}${rest}`))) {
    test(`leads ${path} to where nginx does, under the same limits`, () => {
      for (const method of ['GET', 'POST']) {
        const asked = { method, path, hasKey: true };
        const [there, here] = [nginxLeads(asked), traefikLeads(asked)];
        // A slash at the end is none to Pawl.
        const trim = (led: Led): Led => ({ ...led, path: led.path.replace(/(?!^)\/$/, '') });
        assert.deepEqual(trim(here), trim(there), method);
        assert.notEqual(here.service, '');
      }
    });
  }

  test('lets strangers who ask for pages count for themselves only', () => {
    const asked = { method: 'GET', path: '/docs', hasKey: false };
    assert.deepEqual(traefikLeads(asked), nginxLeads(asked));
  });

  test('names middlewares and services that it defines', () => {
    const names = Object.keys(labels);
    for (const [label, value] of Object.entries(labels)) {
      if (label.endsWith('.middlewares')) {
        for (const name of String(value).split(',')) {
          assert.ok(
            names.some((n) => n.startsWith(`traefik.http.middlewares.${name}.`)),
            name,
          );
        }
      }
      if (/routers\.[\w-]+\.service$/.test(label)) {
        assert.ok(
          names.some((n) => n.startsWith(`traefik.http.services.${value}.`)),
          String(value),
        );
      }
    }
  });
});

describe('the image', () => {
  const dockerfile = readDeploy('Dockerfile');
  const copies = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, args = '']) =>
    args.split(' ').slice(0, -1),
  );

  test('holds everything that the sources read beside themselves', () => {
    const read = globSync('src/**/!(*.test).ts', { cwd: root }).flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const found = [...text.matchAll(/new URL\('(\.\.\/[^']+)', import\.meta\.url\)/g)];
      return found.map(([, target = '']) => join(dirname(path), target));
    });
    assert.ok(read.length >= 4);
    for (const path of read.filter((target) => !target.startsWith('src'))) {
      const isCopied = copies.some((copy) => path === copy || path.startsWith(`${copy}/`));
      assert.ok(isCopied, `${path} is not in the image`);
    }
  });

  test('is made of files that exist and are not ignored', () => {
    const ignored = readDeploy('Dockerfile.dockerignore').split('\n');
    for (const copy of copies) {
      assert.ok(existsSync(join(root, copy)), copy);
      assert.ok(ignored.includes(`!${copy}`), `${copy} is ignored`);
    }
  });

  test('runs as a user other than root, on the Node that Pawl is written for', () => {
    assert.match(dockerfile, /^USER [1-9]\d*:[1-9]\d*$/m);
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const [, major] = /^ARG NODE=node:(\d+)\.\d+\.\d+-\w+-slim$/m.exec(dockerfile) ?? [];
    assert.equal(major, dependencies.node.split('.')[0]);
  });
});

/** Something that would do, for what is left to fill in. */
function sampleOf(name: string): string {
  if (name === 'PAWL_BLOB_URL') return 's3://bucket/prefix';
  if (name === 'PAWL_BLOB_REGION') return 'eu-west-1';
  if (name === 'PAWL_BLOB_ENDPOINT') return 'http://127.0.0.1:9000';
  if (name === 'PAWL_API_KEYS') return `sha256:${'a'.repeat(64)}`;
  if (/_URL$/.test(name)) return 'http://127.0.0.1:8081';
  if (/WORKERS$|_RATE_(CAPACITY|FLOOR)$|_REQUESTS$|_TOKENS$|_SECONDS$/.test(name)) return '20';
  const others: Readonly<Record<string, string>> = {
    PAWL_ALLOW_HOSTS: 'wiki.corp:80',
    PAWL_PACE: 'docs.corp=8/100',
    PAWL_RATE_TIERS: 'free=600,pro=6000',
    PAWL_QUEUE_DEPTH_MAX: '20',
    PAWL_BROWSER: 'auto',
    PAWL_RENDER: 'always',
    PAWL_EMBEDDER_PRICE: '2',
    PAWL_EXTRACTOR_PRICE: '15/60',
    PAWL_QDRANT_PREFIX: 'pawl-two',
  };
  if (others[name] !== undefined) return others[name];
  return 'a-secret-of-more-than-24-characters';
}
