/** Pawl as four processes on a real Postgres and three real Redis, for tests that break them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import type { RoleName } from '../../src/app/settings/service.ts';
import { CallbackGate } from './callback-gate.ts';
import { pawlProgram } from './pawl-program.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { type Redis, startRedis } from './redis.ts';
import { lastingPort } from './server.ts';
import { makeDirectory, removeDirectory } from './temporary.ts';
import { until } from './wait.ts';

export const internalKey = 'the-internal-key-of-the-tests';
/** The key of a user. */
export const userKey = 'the-key-of-a-person';
const hash = createHash('sha256').update(userKey).digest('hex');

export type Part = Exclude<RoleName, 'all'>;

export interface ServicesOptions {
  readonly allowHosts: readonly string[];
  readonly durable?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

/** One process of a role; it keeps its port across restarts. */
export class RoleProcess {
  readonly role: Part;
  readonly name: string;
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #output = '';
  port = 0;

  constructor(role: Part, name: string, environment: Readonly<Record<string, string>>) {
    this.role = role;
    this.name = name;
    this.#environment = environment;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The end of its output. */
  get output(): string {
    return this.#output.slice(-4000);
  }

  async start(more: Readonly<Record<string, string>> = {}): Promise<void> {
    if (this.port === 0) this.port = await lastingPort();
    const args = [
      pawlProgram,
      'serve',
      '--role',
      this.role,
      '--port',
      String(this.port),
      '--no-sample',
    ];
    this.#output = '';
    const child = spawn(process.execPath, [...args, '--json'], {
      env: { ...process.env, NO_COLOR: '1', PAWL_LOG: 'warn', ...this.#environment, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-100_000);
      });
    }
    const found = () => {
      if (child.exitCode !== null) throw new Error(`${this.name} has ended: ${this.output}`);
      return this.#output.includes(`"address":"${this.address}"`);
    };
    await until(found, { what: `the address of ${this.name}` });
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  send(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async kill(): Promise<void> {
    await this.stop('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }
}

export class Services {
  readonly postgres: Postgres;
  readonly redis: Readonly<Record<'orch' | 'scrape' | 'embed', Redis>>;
  readonly databaseUrl: string;
  readonly processes: RoleProcess[] = [];
  /** Between the workers and the orchestrator. */
  readonly gate = new CallbackGate();
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;

  private constructor(
    servers: Pick<Services, 'postgres' | 'redis' | 'databaseUrl'>,
    { allowHosts, environment }: ServicesOptions,
  ) {
    this.postgres = servers.postgres;
    this.redis = servers.redis;
    this.databaseUrl = servers.databaseUrl;
    this.#folder = makeDirectory();
    const { orch, scrape, embed } = this.redis;
    this.#environment = {
      PAWL_DATA: join(this.#folder, 'data'),
      PAWL_DATABASE_URL: this.databaseUrl,
      PAWL_INTERNAL_KEY: internalKey,
      PAWL_API_KEYS: `sha256:${hash}`,
      PAWL_ALLOW_HOSTS: allowHosts.join(','),
      PAWL_PACE: allowHosts.map((host) => `${host.split(':')[0]}=64/0`).join(','),
      PAWL_REDIS_ORCH_URL: orch.url,
      PAWL_REDIS_SCRAPE_URL: scrape.url,
      PAWL_REDIS_EMBED_URL: embed.url,
      ...environment,
    };
  }

  static async start(options: ServicesOptions): Promise<Services> {
    const { durable = false } = options;
    const [postgres, orch, scrape, embed] = await Promise.all([
      startPostgres({ durable }),
      startRedis(),
      startRedis(),
      startRedis(),
    ]);
    const databaseUrl = await postgres.createDatabase();
    const services = new Services(
      { postgres, redis: { orch, scrape, embed }, databaseUrl },
      options,
    );
    try {
      await services.#startRoles();
    } catch (error) {
      await services.stop();
      throw error;
    }
    return services;
  }

  /** The first process of a role. */
  of(role: Part): RoleProcess {
    const found = this.processes.find((process) => process.role === role);
    if (!found) throw new Error(`no process has the role ${role}`);
    return found;
  }

  get orchestrator(): RoleProcess {
    return this.of('orchestrator');
  }

  /** One more process of a role. */
  async add(role: Part, more: Readonly<Record<string, string>> = {}): Promise<RoleProcess> {
    const count = this.processes.filter((process) => process.role === role).length;
    const orchestrator = this.processes.find((process) => process.role === 'orchestrator');
    const chunking = this.processes.find((process) => process.role === 'chunking');
    const process = new RoleProcess(role, `${role} ${count + 1}`, {
      ...this.#environment,
      ...(orchestrator && { PAWL_ORCHESTRATOR_URL: this.gate.address }),
      ...(chunking && { PAWL_CHUNKING_URL: chunking.address }),
      ...more,
    });
    this.processes.push(process);
    await process.start();
    return process;
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.kill()));
    this.gate.close();
    const servers = [this.postgres, ...Object.values(this.redis)];
    await Promise.all(servers.map((server) => server.stop()));
    removeDirectory(this.#folder);
  }

  async #startRoles(): Promise<void> {
    await this.gate.start();
    this.gate.leadTo(() => this.orchestrator.address);
    await this.add('chunking');
    await this.add('orchestrator');
    await Promise.all([this.add('scraper'), this.add('embedding')]);
  }
}
