/** `pawl serve`: the service. On the first start it ingests the samples. */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { RunningService } from '../../app/role/service.ts';
import type { RunningRole } from '../../app/role/worker-service.ts';
import type { Config } from '../../app/settings/config.ts';
import { redisAddresses } from '../../app/settings/redis.ts';
import { roleNames } from '../../app/settings/service.ts';
import type { Pawl } from '../../index.ts';
import { type Call, type Command, exits, type Option } from '../command.ts';
import { follow } from '../view/follow.ts';
import { count } from '../view/wording.ts';

const corpus = 'sample';
const samples = fileURLToPath(new URL('../../../samples', import.meta.url));

/** Where the service listens. */
export const listenOptions: Readonly<Record<'host' | 'port', Option>> = {
  host: {
    type: 'string',
    value: 'HOST',
    meaning: 'address to listen on (PAWL_HOST, or 127.0.0.1)',
  },
  port: {
    type: 'string',
    short: 'p',
    value: 'PORT',
    meaning: 'port (PAWL_PORT, or 7300); 0 for a free one',
  },
};

export const serve: Command = {
  name: 'serve',
  summary: 'start the HTTP service and the workbench; ingests the samples on the first start',
  isLocal: true,
  usage: ['serve [--role ROLE] [--host HOST] [--port PORT] [--no-sample]'],
  options: {
    ...listenOptions,
    role: {
      type: 'string',
      value: 'ROLE',
      choices: roleNames,
      meaning: 'all, orchestrator, scraper, chunking or embedding (PAWL_ROLE, or all)',
    },
    'no-sample': { type: 'boolean', meaning: 'do not ingest the samples into an empty store' },
  },
  examples: ['pawl serve', 'pawl serve --port 8080 --no-sample'],
  run: (call) => serveUntilStopped(call),
};

/** Calls `onListening` with the address when the service accepts requests. */
export async function serveUntilStopped(
  call: Call,
  onListening: (address: string) => void = () => undefined,
): Promise<number> {
  const { checkRole } = await import('../../app/role/roles.ts');
  checkRole(call.config.role, call.config);
  const service = await start(call);
  try {
    tellAddress(call, service);
    onListening(service.address);
    if ('pawl' in service) await readSamples(call, service.pawl);
    if (!call.interrupt.aborted) await once(call.interrupt, 'abort');
  } finally {
    await service.close();
  }
  if (!call.isJson) call.terminal.tell('stopped');
  return exits.well;
}

/** Roles are loaded on demand, so that other commands start faster. */
async function start({ config, terminal }: Call): Promise<RunningService | RunningRole> {
  const { role, internalKey = '', chunkingUrl = '', orchestratorUrl } = config;
  const { engineOptions } = await import('../engine-options.ts');
  const options = {
    ...engineOptions(config),
    host: config.host,
    port: config.port,
    otlpUrl: config.otlpUrl,
    queueDepthMax: config.queueDepthMax,
    corsOrigins: config.corsOrigins,
    work: config.workers !== 0,
    keys: keysOf(config),
    log: { level: config.log, write: (line: string) => terminal.tell(line.trimEnd()) },
  };
  const { webhookSecret } = config;
  const addresses = redisAddresses(config);
  const store = { webhookSecret, hotUrl: addresses.orch };
  if (role === 'all') {
    const { startService } = await import('../../app/role/service.ts');
    return startService({ ...options, ...store });
  }
  if (role === 'orchestrator') {
    const { startOrchestrator } = await import('../../app/role/orchestrator-service.ts');
    return startOrchestrator({ ...options, ...store, internalKey, chunkingUrl, addresses });
  }
  const { startRole } = await import('../../app/role/worker-service.ts');
  return startRole({
    ...options,
    // Only services and callers with a key may let it fetch pages.
    keys: { ...options.keys, isClosed: true },
    role,
    internalKey,
    orchestratorUrl,
    addresses,
  });
}

function keysOf(config: Config) {
  const { apiKeys, internalKey, internalCallerIds, membershipUrl } = config;
  const { rateCapacity, rateFloor, rateTiers } = config;
  const known = { apiKeys, internalKey, internalCallerIds, membershipUrl };
  const rates = { rateCapacity, rateFloor, rateTiers };
  return { ...known, ...rates, redisUrl: redisAddresses(config).orch };
}

function tellAddress(
  { terminal, isJson, isQuiet, config }: Call,
  { address }: Pick<RunningService, 'address'>,
): void {
  if (isJson) {
    terminal.print(JSON.stringify({ address }));
    return;
  }
  if (isQuiet) return;
  const what = config.role === 'all' ? 'Pawl' : `Pawl (${config.role})`;
  terminal.print(`${what} listens on ${terminal.paint('bold', address)}`);
  terminal.print(`${terminal.paint('dim', 'API reference'.padEnd(20))}${address}/docs`);
}

/** The first start ingests the samples, so that there is something to search. */
async function readSamples(call: Call, pawl: Pawl): Promise<void> {
  const { terminal, flags, interrupt, isJson, isQuiet, config } = call;
  // With keys configured, nobody could read them: they would belong to the local owner.
  const isGuarded = config.apiKeys !== undefined || config.membershipUrl !== undefined;
  const isIdle = config.workers === 0;
  if (flags['no-sample'] === true || isGuarded || isIdle || !(await isNew(pawl))) return;
  const { expandSources } = await import('../../source/sources.ts');
  const { localPawl } = await import('../local-client.ts');
  const sources = await expandSources([samples]);
  const job = await localPawl(pawl).submit(sources, { corpus });
  if (!isJson) terminal.tell(`reading ${count(sources.length, 'sample document')} into ${corpus}`);
  await follow(call, job, { after: 0 });
  if (interrupt.aborted || isJson || isQuiet) return;
  for (const [what, command] of next) {
    terminal.print(`${terminal.paint('dim', what.padEnd(20))}${command}`);
  }
}

async function isNew(pawl: Pawl): Promise<boolean> {
  return (
    (await pawl.corpora().page({ limit: 1 })).items.length === 0 &&
    (await pawl.jobs().page({ limit: 1 })).items.length === 0
  );
}

const next: readonly (readonly [string, string])[] = [
  ['search the samples', 'npx pawl search sample "refund for a late delivery"'],
  ['ingest your files', 'npx pawl ingest ./docs --corpus docs'],
  ['all commands', 'npx pawl --help'],
];
