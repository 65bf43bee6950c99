/**
 * Several workers and a submitter on one store; each lives for a random time and is killed with
 * SIGKILL. After the last kill, the remaining work runs undisturbed, and the store is checked.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { cpuMsOf } from '../support/process-state.ts';
import { type Chance, chanceFrom } from './chance.ts';
import type { Child, Program } from './child.ts';
import { readVisible } from './document-verdict.ts';
import { Scene, type SceneOptions } from './scene.ts';
import { acceptedOf, type Finding } from './verdict.ts';
import { kindOf, versionsIn } from './workload.ts';

export interface KillOptions extends SceneOptions {
  readonly kills: number;
  readonly workers: number;
  readonly seed: number;
}

export interface KillResult {
  readonly kills: number;
  /** Processes that were stopped gracefully instead, and returned their leases. */
  readonly stops: number;
  readonly jobs: number;
  readonly items: number;
  readonly calls: number;
  /** Texts whose response was lost on its way into the store, and that were paid for again. */
  readonly askedAgain: number;
  readonly killMs: number;
  readonly restMs: number;
  readonly findings: readonly Finding[];
  readonly errors: readonly string[];
  readonly remarks: readonly string[];
}

const jobsInPeaceMax = 16;

export async function killAtRandom(options: KillOptions): Promise<KillResult> {
  const scene = await Scene.open(options);
  const reader = new VisibleReader(scene);
  try {
    // Short-lived processes may end before anything is submitted, so some jobs exist first.
    const jobs = Math.min(options.kills, jobsInPeaceMax);
    await scene.finish('submitter', { seed: options.seed, jobs, commandRate: 0 });
    const beganAt = performance.now();
    const stops = await new Company(scene, options, reader).killAll();
    const killedAt = performance.now();
    await scene.rest(options.workers);
    await reader.look();
    const accepted = acceptedOf(scene.entries());
    return {
      kills: options.kills,
      stops,
      jobs: accepted.length,
      items: accepted.reduce((sum, { itemIds }) => sum + itemIds.length, 0),
      calls: scene.calls().length,
      askedAgain: scene.askedAgain(),
      killMs: killedAt - beganAt,
      restMs: performance.now() - killedAt,
      findings: [...reader.findings, ...(await scene.judge())],
      errors: [...scene.errors],
      remarks: [...scene.remarks],
    };
  } finally {
    await scene.close();
  }
}

/** How long each may live once it is ready; short lives are more likely than long ones. */
const livesMsMax: Readonly<Record<Program, number>> = { worker: 400, submitter: 2_500 };
const cpuShareMin = 0.25;
/** A process may also wait: for others, or for work. */
const lifeFactorMax = 20;
const deathInStartRate = 0.1;
const stopRate = 0.05;

class Company {
  readonly #scene: Scene;
  readonly #options: KillOptions;
  readonly #reader: VisibleReader;
  readonly #chance: Chance;
  #killsLeft: number;
  #stops = 0;

  constructor(scene: Scene, options: KillOptions, reader: VisibleReader) {
    this.#scene = scene;
    this.#options = options;
    this.#reader = reader;
    this.#chance = chanceFrom(options.seed);
    this.#killsLeft = options.kills;
  }

  async killAll(): Promise<number> {
    const workers = Array.from({ length: this.#options.workers }, () => this.#killEach('worker'));
    await Promise.all([this.#killEach('submitter'), ...workers]);
    return this.#stops;
  }

  /** One slot: each process in it is killed, until the kills are used up. */
  async #killEach(program: Program): Promise<void> {
    while (this.#killsLeft > 0) {
      const isStop = program === 'worker' && this.#chance.hits(stopRate);
      if (isStop) this.#stops++;
      else this.#killsLeft--;
      const child = this.#scene.start(program, { seed: this.#chance.below(2 ** 31) });
      const isReady = isStop || !this.#chance.hits(deathInStartRate);
      if (isReady) await child.first('ready');
      await live(child, this.#chance.next() ** 2 * livesMsMax[program]);
      await this.#scene.end(child, isStop ? 'SIGTERM' : 'SIGKILL');
      await this.#reader.look();
    }
  }
}

/**
 * Waits until a process has lived, and has had a share of that time to compute. On a busy machine
 * it would otherwise be killed before it has done anything.
 */
async function live(child: Child, lifeMs: number): Promise<void> {
  const neededMs = cpuMsOf(child.pid) + lifeMs * cpuShareMin;
  const patientMs = lifeMs * lifeFactorMax;
  for (let lived = 0; lived < patientMs && !child.hasEnded(); lived += lifeMs) {
    await pause(lifeMs);
    if (cpuMsOf(child.pid) >= neededMs) return;
  }
}

/**
 * A reader sees one version of a source, complete; never an older one again, and never none again.
 */
class VisibleReader {
  readonly findings: Finding[] = [];
  readonly #scene: Scene;
  readonly #seen = new Map<number, number>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  async look(): Promise<void> {
    const before = new Map(this.#seen);
    const visible = await readVisible(this.#scene.database);
    for (const [source, chunks] of visible) {
      const versions = versionsIn(chunks.map(({ text }) => text).join('\n'));
      const [version = 0] = versions;
      const known = before.get(source) ?? 0;
      this.#seen.set(source, Math.max(version, this.#seen.get(source) ?? 0));
      const isWhole = versions.length === 1 && chunks[0]?.chunk_count === chunks.length;
      // A file is read when its turn comes: of two submissions, the older may read the newer bytes.
      if (isWhole && (version >= known || kindOf(source) === 'file')) continue;
      const what = `source ${source} showed ${chunks.length} chunks of ${versions.join(', ')}`;
      this.findings.push({ fault: 'mixed', what: `${what} after version ${known}` });
    }
    for (const source of before.keys()) {
      if (visible.has(source)) continue;
      this.findings.push({ fault: 'mixed', what: `source ${source} disappeared for its readers` });
    }
  }
}
