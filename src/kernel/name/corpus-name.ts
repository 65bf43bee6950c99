/**
 * A corpus lives where it was begun: in the namespace of one caller, under one name. That place
 * never changes, so neither do the ids of its documents. Who owns it and who may read it is kept
 * apart. A caller names a corpus of its own namespace `NAME`, and any other `NAME@NAMESPACE`.
 */

export interface CorpusPlace {
  /** The namespace: the caller under whom the corpus was begun. */
  readonly caller: string;
  readonly corpus: string;
}

/** Where the corpus lives that this caller, in full, calls so. */
export function placeOf({ caller, corpus: name }: CorpusPlace): CorpusPlace {
  const at = name.indexOf('@');
  if (at < 0) return { caller, corpus: name };
  return { caller: name.slice(at + 1), corpus: name.slice(0, at) };
}

/** The full name under which a caller knows a corpus. Jobs and items carry it. */
export function nameFor(caller: string, place: CorpusPlace): string {
  return place.caller === caller ? place.corpus : `${place.corpus}@${place.caller}`;
}

/** The same corpus for another caller: what was `a` of ann is `a@ann` for bob. */
export function renamedFor(caller: string, job: CorpusPlace): string {
  return nameFor(caller, placeOf(job));
}
