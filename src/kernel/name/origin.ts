/**
 * Decides where the text of a corpus may be sent. A corpus records the address of its model; a
 * process that is configured for another host, or for none, sends nothing. The decision is pure:
 * `pipeline/corpus-origin.ts` carries it out.
 */

/** The address of a model on another host. */
export interface Origin {
  /** Up to the version: `https://api.openai.com/v1`. Without user name, password or query. */
  readonly url: string;
  /** False: not configured, so it is the vendor's default. */
  readonly isNamed: boolean;
}

export type OriginUse = 'entities' | 'recordings' | 'rerank' | 'answers' | `embed ${string}`;

export function embedUse(model: string): OriginUse {
  return `embed ${model}`;
}

/**
 * `record`: first use. `unknown`: stored before addresses were recorded, and not configured now.
 */
export type OriginDecision = 'same' | 'record' | 'unknown' | 'other';

export interface OriginFacts {
  readonly recorded: string | undefined;
  readonly configured: Origin;
  /** Whether text of the corpus was sent before addresses were recorded. */
  readonly isBegun: boolean;
}

export function decideOrigin({ recorded, configured, isBegun }: OriginFacts): OriginDecision {
  if (recorded !== undefined) return isSameHost(recorded, configured.url) ? 'same' : 'other';
  return isBegun && !configured.isNamed ? 'unknown' : 'record';
}

/** Compares scheme, host and port: the path does not change who reads the text. */
export function isSameHost(one: string, other: string): boolean {
  return hostOf(one) === hostOf(other);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** An address as it is stored and shown. */
export function originOf(url: string, isNamed: boolean): Origin {
  const address = new URL(url);
  const { origin, pathname } = address;
  return { url: `${origin}${pathname.replace(/\/+$/, '')}`, isNamed };
}
