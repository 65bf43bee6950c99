/** Who asks: the identity that goes with every request. */
export interface CallerContext {
  /** From Membership's claims, or the first 16 characters of the key's SHA-256. */
  readonly callerId: string;
  readonly callerType: 'user' | 'service' | 'unknown';
  readonly tier: string | null;
  readonly scopes: readonly string[];
  readonly rawClaims: Readonly<Record<string, unknown>>;
  /** A service of ours: may call back and has a higher limit. */
  readonly internal: boolean;
}

/** The owner of the machine, where no keys are configured. The library submits under this id. */
export const localCaller: CallerContext = {
  callerId: 'local',
  callerType: 'user',
  tier: null,
  scopes: [],
  rawClaims: {},
  internal: false,
};
