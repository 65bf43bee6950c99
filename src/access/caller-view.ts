/** One caller, with its identities and what it owns. */
import { nameFor } from '../kernel/name/corpus-name.ts';
import {
  type CallerRow,
  getCaller,
  type IdentityRow,
  listIdentities,
  unknownCaller,
} from '../store/caller/callers.ts';
import { listOwned } from '../store/caller/ownership-moves.ts';
import type { Reader } from '../store/driver/database.ts';

export interface CallerView extends CallerRow {
  readonly identities: readonly IdentityRow[];
  /** Under the caller's own names for them. */
  readonly corpora: readonly string[];
}

export async function viewCaller(reader: Reader, id: string): Promise<CallerView> {
  const row = await getCaller(reader, id);
  if (!row) throw unknownCaller(id);
  const owned = await listOwned(reader, row.id);
  return {
    ...row,
    identities: await listIdentities(reader, row.id),
    corpora: owned.map((place) => nameFor(row.id, place)).sort(),
  };
}
