/** Notices in a corner of the page: results and errors, some with an undo button. */
export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly tone: 'plain' | 'bad';
  readonly undo?: (() => void) | undefined;
}

const shownMs = 7000;
const shownMax = 4;

export class Notices {
  readonly #listeners = new Set<() => void>();
  #all: readonly Notice[] = [];
  #next = 1;

  get all(): readonly Notice[] {
    return this.#all;
  }

  listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  tell(text: string, more: { tone?: Notice['tone']; undo?: () => void } = {}): void {
    const id = this.#next++;
    const notice = { id, text, tone: more.tone ?? 'plain', undo: more.undo };
    this.#set([...this.#all, notice].slice(-shownMax));
    setTimeout(() => this.remove(id), shownMs);
  }

  remove(id: number): void {
    this.#set(this.#all.filter((notice) => notice.id !== id));
  }

  #set(all: readonly Notice[]): void {
    this.#all = all;
    for (const listener of this.#listeners) listener();
  }
}
