/** Validates values that come from another process. */
import { Failure } from '../kernel/failure/failure.ts';
import type { Json } from './request.ts';

export class Shape {
  readonly #value: Json;
  readonly #what: string;

  constructor(value: unknown, what: string) {
    this.#what = what;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.#wrong();
    this.#value = value as Json;
  }

  get raw(): Json {
    return this.#value;
  }

  text(name: string): string {
    return this.#of(name, (value) => typeof value === 'string') as string;
  }

  textOrNull(name: string): string | null {
    const value = this.#value[name] ?? null;
    return value === null ? null : this.text(name);
  }

  number(name: string): number {
    return this.#of(name, Number.isFinite) as number;
  }

  flag(name: string): boolean {
    return this.#value[name] === true;
  }

  list(name: string): readonly unknown[] {
    return this.#of(name, Array.isArray) as readonly unknown[];
  }

  texts(name: string): readonly string[] {
    const isTexts = (value: unknown) =>
      Array.isArray(value) && value.every((each) => typeof each === 'string');
    return this.#of(name, isTexts) as readonly string[];
  }

  /** Undefined if it is absent. */
  part(name: string): Shape | undefined {
    const value = this.#value[name] ?? null;
    return value === null ? undefined : new Shape(value, `${this.#what}.${name}`);
  }

  #of(name: string, isRight: (value: unknown) => boolean): unknown {
    const value = this.#value[name];
    if (!isRight(value)) throw this.#wrong(name);
    return value;
  }

  #wrong(name?: string): Failure {
    const where = name === undefined ? this.#what : `${this.#what}.${name}`;
    return new Failure('step_output_invalid', `${where} has the wrong shape`);
  }
}
