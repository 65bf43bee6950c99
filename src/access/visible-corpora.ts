/** The corpora that a caller sees: its own by name, then transferred and shared ones. */

import type { CorpusRow } from '../store/document/documents.ts';
import { getCorpus, listCorpora } from '../store/document/views.ts';
import type { Reader } from '../store/driver/database.ts';
import type { CorpusDirectory, KnownCorpus } from './corpus-directory.ts';

/** Undefined: it is empty, and was not transferred to the caller. */
export async function visibleCorpus(
  reader: Reader,
  { caller, corpus, name, isHeld }: KnownCorpus,
): Promise<CorpusRow | undefined> {
  const row = await getCorpus(reader, { caller, name: corpus, isHeld });
  return row && { ...row, name };
}

export async function listVisibleCorpora(
  { database, corpora }: { readonly database: Reader; readonly corpora: CorpusDirectory },
  caller: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<CorpusRow[]> {
  const isPastOwn = after.includes('@');
  const rows = isPastOwn ? [] : await listCorpora(database, { caller, after, limit });
  for (const held of await corpora.held(caller)) {
    if (rows.length >= limit) break;
    if (isPastOwn && held.name <= after) continue;
    // A name reserved for its owner is not visible before the corpus has content.
    const row = await visibleCorpus(database, { ...held, isHeld: held.access !== 'own' });
    if (row) rows.push(row);
  }
  return rows;
}
