/**
 * A corpus stays where it was created: in the namespace of one caller, under one name. This place
 * never changes, so document ids never change. Ownership and read access are stored separately. A
 * caller refers to a corpus of its own namespace as `NAME`, and to any other as `NAME@NAMESPACE`.
 */

export interface CorpusPlace {
  /** The namespace: the caller that created the corpus. */
  readonly caller: string;
  readonly corpus: string;
}

/** The place of the corpus that this caller refers to by this full name. */
export function placeOf({ caller, corpus: name }: CorpusPlace): CorpusPlace {
  const at = name.indexOf('@');
  if (at < 0) return { caller, corpus: name };
  return { caller: name.slice(at + 1), corpus: name.slice(0, at) };
}

/** The full name of a corpus for a caller. Jobs and items carry it. */
export function nameFor(caller: string, place: CorpusPlace): string {
  return place.caller === caller ? place.corpus : `${place.corpus}@${place.caller}`;
}

/** The same corpus for another caller: `a` of ann is `a@ann` for bob. */
export function renamedFor(caller: string, job: CorpusPlace): string {
  return nameFor(caller, placeOf(job));
}
