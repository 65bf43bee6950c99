/** Who asks: the identity that goes with every request. */
import type { Sight } from '../store/caller/callers.ts';

export const callerTypes = ['user', 'service', 'unknown'] as const;

export interface CallerContext {
  /** The durable caller that jobs and corpora belong to; without a store, the same as `shownId`. */
  readonly callerId: string;
  /**
   * What limits, audit and answers call it: what Membership or the list of keys names it, or the
   * first 16 digits of the SHA-256 of the key it first came with.
   */
  readonly shownId: string;
  /** What led to it; absent where nothing had to be shown. */
  readonly sight?: Sight | undefined;
  readonly callerType: (typeof callerTypes)[number];
  readonly tier: string | null;
  readonly scopes: readonly string[];
  readonly rawClaims: Readonly<Record<string, unknown>>;
  /** A service of ours: may call back and has a higher limit. */
  readonly internal: boolean;
}

/** The owner of the machine, where no keys are configured. The library submits under this id. */
export const localCaller: CallerContext = {
  callerId: 'local',
  shownId: 'local',
  callerType: 'user',
  tier: null,
  scopes: [],
  rawClaims: {},
  internal: false,
};
