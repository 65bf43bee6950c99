/**
 * Which caller a request comes from. A key's hash and, where Membership or the list of keys gives
 * one, a name are identities: they lead to a caller, and may change without changing who owns what.
 * A name is stronger than a key: it comes from whoever knows the accounts.
 */

export type IdentityKind = 'key' | 'name' | 'membership';

export interface Identity {
  readonly kind: IdentityKind;
  readonly subject: string;
}

export interface Sighting {
  /** The caller that the key leads to, if it was seen before. */
  readonly byKey?: string | undefined;
  /** That caller has another name from the same authority. */
  readonly isNamedOtherwise?: boolean | undefined;
  /** Whether the request comes with a name. */
  readonly hasName: boolean;
  /** The caller that the name leads to. */
  readonly byName?: string | undefined;
}

export type IdentityDecision =
  /** Nothing to change. */
  | { readonly do: 'know'; readonly caller: string }
  /** Neither was seen before, or the key has been given to somebody new. */
  | { readonly do: 'create' }
  | { readonly do: 'link'; readonly caller: string; readonly what: 'key' | 'name' }
  /** Two callers turn out to be one. */
  | { readonly do: 'merge'; readonly caller: string; readonly from: string };

export function decideCaller(seen: Sighting): IdentityDecision {
  const { byKey, byName, hasName, isNamedOtherwise } = seen;
  if (!hasName) return byKey === undefined ? { do: 'create' } : { do: 'know', caller: byKey };
  if (byName !== undefined) {
    if (byKey === byName) return { do: 'know', caller: byName };
    // A key that was somebody else's by name brings nothing of theirs along.
    if (byKey === undefined || isNamedOtherwise) {
      return { do: 'link', caller: byName, what: 'key' };
    }
    return { do: 'merge', caller: byName, from: byKey };
  }
  if (byKey === undefined || isNamedOtherwise) return { do: 'create' };
  return { do: 'link', caller: byKey, what: 'name' };
}
