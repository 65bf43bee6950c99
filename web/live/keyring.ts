/** The API key of this browser: kept for the session, or until the user removes it. */
const place = 'pawl.key';

export class Keyring {
  readonly #listeners = new Set<() => void>();
  #refusal: 'none' | 'missing' | 'refused' = 'none';

  get key(): string | undefined {
    return sessionStorage.getItem(place) ?? localStorage.getItem(place) ?? undefined;
  }

  /** Whether the user has to enter a key before any request. */
  get refusal(): 'none' | 'missing' | 'refused' {
    return this.#refusal;
  }

  refuse(): void {
    this.#change(this.key === undefined ? 'missing' : 'refused');
  }

  give(key: string, isKept: boolean): void {
    this.#forget();
    (isKept ? localStorage : sessionStorage).setItem(place, key);
    this.#change('none');
  }

  forget(): void {
    this.#forget();
    this.#change('missing');
  }

  listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #forget(): void {
    sessionStorage.removeItem(place);
    localStorage.removeItem(place);
  }

  #change(refusal: Keyring['refusal']): void {
    if (this.#refusal === refusal) return;
    this.#refusal = refusal;
    for (const listener of this.#listeners) listener();
  }
}
