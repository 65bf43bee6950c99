/** The corpora of the library's only caller, by the caller's names for them. */
import type { CallerClient } from '../access/caller-client.ts';
import { viewCaller } from '../access/caller-view.ts';
import { checkAccess, unknownCorpus } from '../access/corpus-directory.ts';
import { visibleCorpus } from '../access/visible-corpora.ts';
import type { Assembled } from '../app/wire.ts';
import type { Share } from '../engine/command/caller-commands.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { type CorpusPlace, placeOf } from '../kernel/name/corpus-name.ts';
import { listCallers } from '../store/caller/callers.ts';
import {
  type CorpusAccess,
  listShares,
  type ShareAccess,
  type ShareRow,
} from '../store/corpus/access.ts';
import { type CorpusSettings, getCorpusSettings } from '../store/corpus/settings.ts';
import { type CorpusRow, type DocumentRow, getDocument } from '../store/document/documents.ts';
import { getSpending, type SpendingRow } from '../store/money/spending.ts';

export type Spending = SpendingRow & Partial<CorpusSettings>;

type Parts = Pick<Assembled, 'database' | 'engine' | 'corpora'>;

export class OwnCorpora {
  readonly #parts: Parts;
  readonly #caller: string;

  constructor(parts: Parts, caller: string) {
    this.#parts = parts;
    this.#caller = caller;
  }

  async place(name: string, needed: CorpusAccess = 'read'): Promise<CorpusPlace> {
    const { caller, corpus } = await this.#parts.corpora.find(this.#caller, name, needed);
    return { caller, corpus };
  }

  async fullName(name: string | undefined): Promise<string | undefined> {
    return name === undefined ? undefined : this.#parts.corpora.fullName(this.#caller, name);
  }

  async row(name: string): Promise<CorpusRow> {
    const { corpora, database } = this.#parts;
    const row = await visibleCorpus(database, await corpora.find(this.#caller, name));
    if (row) return row;
    throw unknownCorpus(name);
  }

  async document(id: string, needed: CorpusAccess): Promise<DocumentRow> {
    const { corpora, database } = this.#parts;
    const row = await getDocument(database, id);
    const access = row && (await corpora.accessTo(this.#caller, row));
    if (!row || !access) throw new Failure('document_unknown', `there is no document ${id}`);
    checkAccess(access, needed, `document ${id}`);
    return row;
  }

  async spending(name: string | undefined): Promise<Spending> {
    const { database } = this.#parts;
    const caller = this.#caller;
    const corpus = await this.fullName(name);
    const spent = await getSpending(database, { caller, corpus });
    if (corpus === undefined) return spent;
    const settings = await getCorpusSettings(database, placeOf({ caller, corpus }));
    const { budget_cents } = await getCorpusSettings(database, { caller, corpus });
    return { ...spent, ...settings, budget_cents };
  }

  async delete(name: string): Promise<number> {
    const { corpora, engine } = this.#parts;
    const { caller, corpus } = await this.place(name, 'own');
    const deleted = await engine.commands.deleteCorpus(caller, corpus);
    corpora.forget();
    return deleted;
  }

  async shares(name: string): Promise<ShareRow[]> {
    return listShares(this.#parts.database, await this.place(name, 'own'));
  }

  async share(name: string, guest: string, access: ShareAccess): Promise<void> {
    const { callers } = this.#parts.engine;
    const row = await this.row(name);
    await callers.share(await this.#shareOf(row.name, guest), access);
  }

  async unshare(name: string, guest: string): Promise<boolean> {
    return this.#parts.engine.callers.unshare(await this.#shareOf(name, guest));
  }

  async #shareOf(name: string, guest: string): Promise<Share> {
    return { owner: this.#caller, place: await this.place(name, 'own'), guest };
  }
}

/** Access to the store includes managing its callers. */
export function callersOf({ database, engine, corpora }: Parts): CallerClient {
  const { callers } = engine;
  return {
    list: (page) => listCallers(database, page),
    show: (id) => viewCaller(database, id),
    link: async (id, hash, confirmed) => {
      await callers.link(id, hash, confirmed);
    },
    unlink: async (id, hash, confirmed) => {
      await callers.unlink(id, hash, confirmed);
    },
    move: async (from, to, what) => {
      const moved = await callers.move(from, to, what);
      corpora.forget();
      return moved;
    },
  };
}
