/** The current vectors of each corpus in memory, with hits reordered by the stored bytes. */
import {
  type CurrentRow,
  type JoinedVectorsRow,
  listVectors,
} from '../../store/document/contents.ts';
import type { Database } from '../../store/driver/database.ts';
import type { Allowed } from '../filter/allowed.ts';
import { type Copy, Follower } from '../follower.ts';
import type { SavedCopies } from '../saved/saved-copies.ts';
import { Arena, toQuery } from './arena.ts';
import { Partition, type VectorHit, type Vectors } from './partition.ts';
import { type Rescoring, rescoreStored } from './rescore.ts';

export interface MirrorSearch extends Rescoring {
  readonly caller: string;
  readonly corpus: string;
  readonly size: number;
  /** Undefined allows everything. */
  readonly allowed?: Allowed | undefined;
}

/** Finds the nearest current vectors, nearest first. */
export interface VectorIndex {
  search(request: MirrorSearch): Promise<VectorHit[]>;
}

export interface MirrorOptions {
  readonly arena?: Arena | undefined;
  /** If present, copies of large corpora are saved for other processes. */
  readonly saved?: SavedCopies | undefined;
}

export class Mirror implements VectorIndex {
  readonly #database: Database;
  readonly #follower: Follower<VectorCopy>;

  constructor(database: Database, { arena = new Arena(), saved }: MirrorOptions = {}) {
    this.#database = database;
    const create = ({ kind }: { readonly kind: string }) => {
      const [model, dimensions] = JSON.parse(kind) as [string, number];
      return new VectorCopy({ database, arena, model, dimensions });
    };
    this.#follower = new Follower(database, create, saved);
  }

  async search(request: MirrorSearch): Promise<VectorHit[]> {
    const { caller, corpus, model, vector, size, allowed } = request;
    const kind = JSON.stringify([model, vector.length]);
    const hits = await this.#follower.use({ caller, corpus, kind }, ({ index }) =>
      index.search(toQuery(vector), size, allowed),
    );
    return rescoreStored(this.#database, request, hits);
  }
}

interface VectorCopyOptions {
  readonly database: Database;
  readonly arena: Arena;
  readonly model: string;
  readonly dimensions: number;
}

/** Vectors of another model cannot be compared, and are not read. */
function toVectors(row: JoinedVectorsRow | undefined): Vectors {
  if (!row) return { ordinals: [], bytes: new Uint8Array(0) };
  return { ordinals: row.ordinals.split(',').map(Number), bytes: row.vectors };
}

class VectorCopy implements Copy {
  readonly index: Partition;
  readonly saveable: Partition;
  readonly #options: VectorCopyOptions;

  constructor(options: VectorCopyOptions) {
    this.#options = options;
    this.index = new Partition(options.arena, options.dimensions);
    this.saveable = this.index;
  }

  async put(rows: readonly CurrentRow[]): Promise<void> {
    const { database, model, dimensions } = this.#options;
    const generationIds = rows.map(({ generation_id }) => generation_id);
    const joined = await listVectors(database, { model, dimensions, generationIds });
    const byGeneration = new Map(joined.map((row) => [row.generation_id, row]));
    for (const { id, generation_id } of rows) {
      this.index.put(id, generation_id, toVectors(byGeneration.get(generation_id)));
    }
  }

  release(): void {
    this.index.release();
  }
}
