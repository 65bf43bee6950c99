/** Statements that a transaction runs at its end, each with the ids it applies to. */
import type { Parameters, Statement } from './statement.ts';

export class DeferredStatements {
  readonly #ids = new Map<Statement<never>, number[]>();

  add(statement: Statement<never>, id: number): void {
    const ids = this.#ids.get(statement);
    if (ids) ids.push(id);
    else this.#ids.set(statement, [id]);
  }

  /** Returns and clears the deferred statements. */
  take(): (readonly [statement: Statement<never>, parameters: Parameters])[] {
    const deferred = [...this.#ids].map(
      ([statement, ids]) => [statement, { ids: JSON.stringify(ids) }] as const,
    );
    this.#ids.clear();
    return deferred;
  }
}
