/**
 * Decides which caller a request comes from. Identities are the hash of a key and, if Membership or
 * the key list gives one, a name. They lead to a caller and may change without changing ownership.
 * A name is stronger than a key, because it comes from the system that manages accounts.
 */

export type IdentityKind = 'key' | 'name' | 'membership';

export interface Identity {
  readonly kind: IdentityKind;
  readonly subject: string;
}

export interface Sighting {
  /** The caller of this key, if it was seen before. */
  readonly byKey?: string | undefined;
  /** That caller has another name from the same authority. */
  readonly isNamedOtherwise?: boolean | undefined;
  /** Whether the request comes with a name. */
  readonly hasName: boolean;
  /** The caller of this name. */
  readonly byName?: string | undefined;
}

export type IdentityDecision =
  /** Nothing to change. */
  | { readonly do: 'know'; readonly caller: string }
  /** Neither was seen before, or the key was given to a new caller. */
  | { readonly do: 'create' }
  | { readonly do: 'link'; readonly caller: string; readonly what: 'key' | 'name' }
  /** Two callers are the same. */
  | { readonly do: 'merge'; readonly caller: string; readonly from: string };

export function decideCaller(seen: Sighting): IdentityDecision {
  const { byKey, byName, hasName, isNamedOtherwise } = seen;
  if (!hasName) return byKey === undefined ? { do: 'create' } : { do: 'know', caller: byKey };
  if (byName !== undefined) {
    if (byKey === byName) return { do: 'know', caller: byName };
    // A key that belonged to another named caller transfers nothing.
    if (byKey === undefined || isNamedOtherwise) {
      return { do: 'link', caller: byName, what: 'key' };
    }
    return { do: 'merge', caller: byName, from: byKey };
  }
  if (byKey === undefined || isNamedOtherwise) return { do: 'create' };
  return { do: 'link', caller: byKey, what: 'name' };
}
