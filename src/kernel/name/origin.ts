/**
 * Where the text of a corpus may be sent. A corpus remembers the address that computed for it; a
 * process that is configured for another host, or for none, sends nothing. The decision is pure:
 * `pipeline/corpus-origin.ts` carries it out.
 */

/** The address of a model that computes on another host. */
export interface Origin {
  /** Up to the version: `https://api.openai.com/v1`. Without a name, a password or a query. */
  readonly url: string;
  /** False: nobody named it, it is the vendor's default. */
  readonly isNamed: boolean;
}

export type OriginUse = 'entities' | 'recordings' | `embed ${string}`;

export function embedUse(model: string): OriginUse {
  return `embed ${model}`;
}

/** `record`: this is the first use. `unknown`: stored before addresses were, and not named now. */
export type OriginDecision = 'same' | 'record' | 'unknown' | 'other';

export interface OriginFacts {
  readonly recorded: string | undefined;
  readonly configured: Origin;
  /** Whether text of the corpus was sent somewhere before addresses were recorded. */
  readonly isBegun: boolean;
}

export function decideOrigin({ recorded, configured, isBegun }: OriginFacts): OriginDecision {
  if (recorded !== undefined) return isSameHost(recorded, configured.url) ? 'same' : 'other';
  return isBegun && !configured.isNamed ? 'unknown' : 'record';
}

/** Scheme, host and port: the path of an interface says nothing about who reads the text. */
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
