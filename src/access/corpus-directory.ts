/**
 * Resolves a corpus name for a caller, and what the caller may do there. `NAME` is a corpus of its
 * own; otherwise one that was transferred to it, or the only one shared with it under this name.
 * `NAME@CALLER` is always exact. Results are cached for seconds.
 */

import { Failure } from '../kernel/failure/failure.ts';
import { type CorpusPlace, nameFor, placeOf } from '../kernel/name/corpus-name.ts';
import {
  type CorpusAccess,
  type Holding,
  hasOwnCorpus,
  listHoldings,
} from '../store/corpus/access.ts';
import type { Reader } from '../store/driver/database.ts';
import { ShortCache } from './membership/short-cache.ts';

export interface KnownCorpus extends CorpusPlace {
  /** The full name for the caller. */
  readonly name: string;
  readonly access: CorpusAccess;
  /** It was transferred or shared: it exists for the caller, even if it is empty. */
  readonly isHeld: boolean;
}

const rank: Readonly<Record<CorpusAccess, number>> = { read: 0, write: 1, own: 2 };

export class CorpusDirectory {
  readonly #reader: Reader;
  readonly #holdings: ShortCache<readonly Holding[]>;

  constructor(reader: Reader, now: () => number) {
    this.#reader = reader;
    this.#holdings = new ShortCache(now);
  }

  /** The corpus of this name. Does not check whether it has content. */
  async find(caller: string, name: string, needed: CorpusAccess = 'read'): Promise<KnownCorpus> {
    return allowed(await this.#named(caller, name), needed);
  }

  /**
   * The target of a submission under this name. The short name never means a corpus that is only
   * shared: otherwise a share could capture documents meant for a new corpus.
   */
  async target(caller: string, name: string): Promise<KnownCorpus> {
    const found = await this.#named(caller, name);
    const isShort = !name.includes('@');
    if (!isShort || !found.isHeld || found.access === 'own') return allowed(found, 'write');
    const own = `${name}@${caller}`;
    const given = JSON.stringify(name);
    const message = `${given} is shared with you, and is not your own corpus`;
    const advice = `use ${found.name} for the shared one, or ${own} to create your own`;
    throw new Failure('corpus_ambiguous', `${message}: ${advice}`);
  }

  /** What the caller may do with a document of this corpus; undefined: invisible to it. */
  async accessTo(caller: string, place: CorpusPlace): Promise<CorpusAccess | undefined> {
    const holdings = await this.#of(caller);
    const held = holdings.find((each) => isAt(each, place));
    if (held) return held.access === 'away' ? undefined : held.access;
    return place.caller === caller ? 'own' : undefined;
  }

  /** The name as jobs carry it; an unknown one is unchanged. */
  async fullName(caller: string, name: string): Promise<string> {
    try {
      return (await this.#named(caller, name)).name;
    } catch (error) {
      if (error instanceof Failure && error.code === 'corpus_unknown') return name;
      throw error;
    }
  }

  /** Corpora of other namespaces that the caller owns or that are shared with it, by full name. */
  async held(caller: string): Promise<KnownCorpus[]> {
    const holdings = await this.#of(caller);
    return holdings
      .flatMap((each) => known(caller, each) ?? [])
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Corpora of the caller's namespace that now belong to others. */
  async away(caller: string): Promise<ReadonlySet<string>> {
    const holdings = await this.#of(caller);
    return new Set(holdings.flatMap((each) => (each.access === 'away' ? [each.corpus] : [])));
  }

  forget(): void {
    this.#holdings.clear();
  }

  #of(caller: string): Promise<readonly Holding[]> {
    return this.#holdings.get(caller, () => listHoldings(this.#reader, caller));
  }

  async #named(caller: string, name: string): Promise<KnownCorpus> {
    const holdings = await this.#of(caller);
    const place = placeOf({ caller, corpus: name });
    if (place.caller !== caller) return exactly(caller, holdings, place, name);
    const isAway = holdings.some((each) => each.access === 'away' && isAt(each, place));
    const own: KnownCorpus = { ...place, name: place.corpus, access: 'own', isHeld: false };
    const candidates = holdings.filter(
      ({ corpus, access }) => corpus === place.corpus && access !== 'away',
    );
    const isExact = name.includes('@');
    if (!isAway && (isExact || candidates.length === 0)) return own;
    if (!isAway && (await hasOwnCorpus(this.#reader, place))) return own;
    return only(caller, candidates, name);
  }
}

/** By its namespace, or by its owner. */
function exactly(
  caller: string,
  holdings: readonly Holding[],
  place: CorpusPlace,
  name: string,
): KnownCorpus {
  const there = holdings.filter(({ access }) => access !== 'away');
  const exact = there.find((each) => isAt(each, place));
  const found = exact && known(caller, exact);
  if (found) return found;
  const owned = there.filter(
    ({ corpus, owner, owner_name }) =>
      corpus === place.corpus && (owner === place.caller || owner_name === place.caller),
  );
  return only(caller, owned, name);
}

function only(caller: string, candidates: readonly Holding[], name: string): KnownCorpus {
  const owned = candidates.filter(({ access }) => access === 'own');
  const [one, ...others] = (owned.length > 0 ? owned : candidates).flatMap(
    (each) => known(caller, each) ?? [],
  );
  if (!one) throw unknownCorpus(name);
  if (others.length === 0) return one;
  const names = [one, ...others].map((each) => each.name).join(', ');
  const message = `${JSON.stringify(name)} is ambiguous: use one of ${names}`;
  throw new Failure('corpus_ambiguous', message);
}

function known(caller: string, held: Holding): KnownCorpus | undefined {
  const { namespace, corpus, access } = held;
  if (access === 'away') return undefined;
  const place = { caller: namespace, corpus };
  return { ...place, name: nameFor(caller, place), access, isHeld: true };
}

function isAt({ namespace, corpus }: Holding, place: CorpusPlace): boolean {
  return namespace === place.caller && corpus === place.corpus;
}

/**
 * A caller that can see a corpus gets the reason of a refusal; for all others it does not exist.
 */
function allowed(corpus: KnownCorpus, needed: CorpusAccess): KnownCorpus {
  checkAccess(corpus.access, needed, corpus.name);
  return corpus;
}

export function checkAccess(access: CorpusAccess, needed: CorpusAccess, what: string): void {
  if (rank[access] >= rank[needed]) return;
  const words = needed === 'own' ? 'only its owner may do this' : 'it is shared with you read-only';
  throw new Failure('forbidden', `${what}: ${words}`);
}

export function unknownCorpus(name: string): Failure {
  return new Failure('corpus_unknown', `there is no corpus ${JSON.stringify(name)}`);
}
