/**
 * The sources of one attempt and their progress. A source that has completed a phase is not
 * processed in that phase again, so that a resumed attempt repeats nothing. Large parts (bytes,
 * text, chunks) are in files of the workspace; a phase is complete only when its file is complete.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewChunk } from '../../store/document/chunks.ts';
import { isToBeRead, type Plan, type SourceFailure } from './plan.ts';
import type { StagedSource } from './staging.ts';
import { workspaceFailure } from './workspace.ts';

/** The result of preflight. */
export interface Taken {
  readonly hash: string;
  readonly bytes: number;
  readonly mediaType: string;
  readonly ms: number;
}

/** The result of parsing; the text itself is in a file. */
export interface TextFacts {
  readonly title: string | null;
  readonly language: string | null;
  readonly contentHash: string;
  readonly meta: string;
  /** Its front matter as metadata, as JSON. */
  readonly metadata?: string | null;
  /** Number of files attached to a mail. */
  readonly attachments: number;
  readonly bytes: number;
  readonly ms: number;
}

export interface CutFacts {
  readonly chunks: number;
  readonly ms: number;
}

export interface Work {
  readonly staged: StagedSource;
  readonly taken?: Taken;
  readonly plan?: Plan;
  readonly text?: TextFacts;
  readonly cut?: CutFacts;
  /** It could not be parsed or chunked. The others continue without it. */
  readonly failure?: SourceFailure;
}

export type WorkListener = (work: Work) => void;

export class Batch {
  readonly #folder: string;
  readonly #works = new Map<string, Work>();
  readonly #onChange: WorkListener;

  constructor(folder: string, staged: readonly StagedSource[], onChange: WorkListener) {
    this.#folder = folder;
    this.#onChange = onChange;
    for (const source of staged) this.#works.set(source.id, { staged: source });
  }

  get works(): Work[] {
    return [...this.#works.values()];
  }

  has(id: string): boolean {
    return this.#works.has(id);
  }

  workOf(id: string): Work | undefined {
    return this.#works.get(id);
  }

  /**
   * Removes the source from the attempt. A duplicate that was skipped because of it replaces it.
   */
  forget(id: string): void {
    const gone = this.#works.get(id);
    this.#works.delete(id);
    if (!gone?.taken || !isToBeRead(gone.plan)) return;
    const { hash } = gone.taken;
    const [heir, ...others] = this.works.filter(
      ({ taken, plan }) => taken?.hash === hash && plan?.do === 'skip' && plan.why === 'in_batch',
    );
    if (heir?.plan?.do !== 'skip' || !heir.plan.otherwise) return;
    this.change(heir.staged.id, { plan: heir.plan.otherwise });
    for (const { staged, plan } of others) {
      if (plan?.do === 'skip') {
        this.change(staged.id, { plan: { ...plan, of: heir.staged.name } });
      }
    }
  }

  change(id: string, found: Omit<Partial<Work>, 'staged'>): void {
    const work = this.#works.get(id);
    if (!work) return;
    const next = Object.freeze({ ...work, ...found });
    this.#works.set(id, next);
    this.#onChange(next);
  }

  writeBytes(id: string, bytes: Uint8Array): Promise<void> {
    return this.#write(`${id}.bytes`, bytes);
  }

  bytesPath(id: string): string {
    return join(this.#folder, `${id}.bytes`);
  }

  writeText(id: string, text: string): Promise<void> {
    return this.#write(`${id}.text`, text);
  }

  readText(id: string): Promise<string> {
    return this.#read(`${id}.text`);
  }

  writeChunks(id: string, chunks: readonly NewChunk[]): Promise<void> {
    return this.#write(`${id}.chunks`, JSON.stringify(chunks));
  }

  async readChunks(id: string): Promise<readonly NewChunk[]> {
    return JSON.parse(await this.#read(`${id}.chunks`));
  }

  /** Atomic: a partial file must not look like a completed phase. */
  async #write(name: string, content: Uint8Array | string): Promise<void> {
    const path = join(this.#folder, name);
    try {
      await writeFile(`${path}.part`, content, { mode: 0o600 });
      await rename(`${path}.part`, path);
    } catch (error) {
      throw workspaceFailure('written', error);
    }
  }

  async #read(name: string): Promise<string> {
    try {
      return await readFile(join(this.#folder, name), 'utf8');
    } catch (error) {
      throw workspaceFailure('read', error);
    }
  }
}
