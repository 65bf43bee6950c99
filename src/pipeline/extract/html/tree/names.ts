/** Caches derived names and selectors per page: there are few distinct ones and many elements. */
import { readSelector, type Selector } from './selector.ts';

export class TreeNames {
  readonly #capitals = new Map<string, string>();
  readonly #tidied = new Map<string, string>();
  readonly #selectors = new Map<string, Selector>();

  upperCase(name: string): string {
    return once(this.#capitals, name, (text) => text.toUpperCase());
  }

  /** Distinct class names, separated by one blank. */
  tidy(classes: string): string {
    return once(this.#tidied, classes, tidyTokens);
  }

  selector(text: string): Selector {
    return once(this.#selectors, text, readSelector);
  }
}

function once<Value>(
  known: Map<string, Value>,
  text: string,
  make: (text: string) => Value,
): Value {
  const before = known.get(text);
  if (before !== undefined) return before;
  const made = make(text);
  known.set(text, made);
  return made;
}

function tidyTokens(text: string): string {
  return [...new Set(text.split(/\s+/))].filter((token) => token !== '').join(' ');
}
