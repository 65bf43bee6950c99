/**
 * Decides when a worker claims what, so that a suspect runs alone (docs/decisions/0064): it takes
 * one only while it holds nothing, and claims nothing beside it. Under load it first lets its slots
 * run empty, for a bounded time, and then works normally for as long before it tries for twice the
 * time.
 */
import { limits } from '../../kernel/limits/limits.ts';
import { aloneMs } from '../../kernel/suspicion.ts';
import type { World } from '../../kernel/world.ts';
import type { Work } from '../../store/item/claims.ts';

export type Next = 'turns' | 'suspect' | 'nothing';

export interface SolitudeOptions {
  readonly world: World;
  /** There may be new items to claim. */
  readonly wake: () => void;
}

export class Solitude {
  readonly #options: SolitudeOptions;
  /** The worker takes suspects that were alone at no more deaths than this. */
  loneDeathsMax = 0;
  #uptimes: (() => void)[] = [];
  #endAlone: (() => void) | undefined;
  #phase: 'working' | 'draining' | 'resting' = 'working';
  #cancelPhase: (() => void) | undefined;
  #drainMs: number = limits.suspect.drainMsMin;

  constructor(options: SolitudeOptions) {
    this.#options = options;
  }

  start(): void {
    const { world, wake } = this.#options;
    const [, ...later] = limits.suspect.uptimesMs;
    // Timers, not the clock, which may be changed while the process runs.
    this.#uptimes = later.map((uptimeMs) =>
      world.setTimer(() => {
        this.loneDeathsMax += 1;
        wake();
      }, uptimeMs),
    );
  }

  stop(): void {
    for (const cancel of this.#uptimes) cancel();
    this.#endAlone?.();
    this.#enter('working');
    this.loneDeathsMax = 0;
  }

  /** What to claim, with this many items held. */
  next({ hasTurn, suspectLoneDeaths }: Omit<Work, 'serviceQueues'>, held: number): Next {
    if (this.#endAlone) return 'nothing';
    const isSuspectDue = (suspectLoneDeaths ?? Number.POSITIVE_INFINITY) <= this.loneDeathsMax;
    if (isSuspectDue && held === 0) return 'suspect';
    if (!isSuspectDue) this.#giveUpDraining();
    else if (this.#phase === 'working') this.#drain();
    return hasTurn && this.#phase !== 'draining' ? 'turns' : 'nothing';
  }

  /** A suspect has been claimed. Nothing else is, until it ends or its time alone is over. */
  begin(crashes: number): () => void {
    this.#giveUpDraining();
    const end = (): void => {
      if (this.#endAlone !== end) return;
      this.#endAlone = undefined;
      cancel();
    };
    const cancel = this.#options.world.setTimer(() => {
      end();
      this.#options.wake();
    }, aloneMs(crashes));
    this.#endAlone = end;
    return end;
  }

  #drain(): void {
    const ms = this.#drainMs;
    this.#enter('draining', ms, () => {
      this.#drainMs = Math.min(2 * ms, limits.suspect.drainMsMax);
      this.#enter('resting', ms, () => this.#enter('working'));
    });
  }

  #giveUpDraining(): void {
    this.#drainMs = limits.suspect.drainMsMin;
    this.#enter('working');
  }

  #enter(phase: 'draining' | 'resting', ms: number, then: () => void): void;
  #enter(phase: 'working'): void;
  #enter(phase: 'working' | 'draining' | 'resting', ms = 0, then?: () => void): void {
    this.#cancelPhase?.();
    this.#cancelPhase = undefined;
    this.#phase = phase;
    if (!then) return;
    this.#cancelPhase = this.#options.world.setTimer(() => {
      then();
      this.#options.wake();
    }, ms);
  }
}
