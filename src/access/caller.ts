/** The identity that goes with every request. */
import type { Sight } from '../store/caller/callers.ts';

export const callerTypes = ['user', 'service', 'unknown'] as const;

export interface CallerContext {
  /** The durable caller that owns jobs and corpora; without a store, the same as `shownId`. */
  readonly callerId: string;
  /**
   * The id in limits, audit and responses: the name from Membership or the key list, or the first
   * 16 digits of the SHA-256 of its first key.
   */
  readonly shownId: string;
  /** The identities it was found by; absent if no key was needed. */
  readonly sight?: Sight | undefined;
  readonly callerType: (typeof callerTypes)[number];
  readonly tier: string | null;
  readonly scopes: readonly string[];
  readonly rawClaims: Readonly<Record<string, unknown>>;
  /** A Pawl service: may call back and has a higher limit. */
  readonly internal: boolean;
}

/** The owner of the machine, if no keys are configured. The library submits under this id. */
export const localCaller: CallerContext = {
  callerId: 'local',
  shownId: 'local',
  callerType: 'user',
  tier: null,
  scopes: [],
  rawClaims: {},
  internal: false,
};
