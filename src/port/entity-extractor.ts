/** An entity extractor that a user plugs in: a text in, the names in it out. */
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { aFunction, aName, checkPort, type MemberChecks, orAbsent } from '../kernel/port-check.ts';
import {
  type Entity,
  type EntityKind,
  type ExtractionInput,
  type Extractor,
  entityKinds,
  type Mention,
} from '../pipeline/entity/extraction.ts';
import { relationsOf } from '../pipeline/entity/relation.ts';
import type { PortCall } from './embedder.ts';
import { callPort } from './port-call.ts';

export interface FoundEntity {
  readonly kind: EntityKind;
  readonly name: string;
  /** Other names of it in this text. */
  readonly aliases?: readonly string[] | undefined;
  /**
   * Where the text names it: `text.slice(start, end)`. If absent, Pawl looks for the name and the
   * aliases, letter by letter.
   */
  readonly mentions?: readonly { readonly start: number; readonly end: number }[] | undefined;
}

export interface EntityExtractorPort {
  /** Shown in the history of each document. */
  readonly name: string;
  extract(text: string, call: PortCall): Promise<readonly FoundEntity[]>;
  close?(): Promise<void>;
}

const checks: MemberChecks<EntityExtractorPort> = {
  name: aName,
  extract: aFunction,
  close: orAbsent(aFunction),
};

export function checkEntityExtractor(value: unknown): EntityExtractorPort {
  return checkPort(value, checks, { from: 'open({ extractor })', what: 'entity extractor' });
}

/** Entities that the text does not name are dropped and counted. */
export function pluggedExtractor(port: EntityExtractorPort): Extractor {
  const { name } = port;
  return {
    model: name,
    async extract(input, { signal }) {
      const call = `extract of ${name}`;
      const found = await callPort(call, () => port.extract(input.text, { signal }), signal);
      if (!Array.isArray(found)) throw wrong(port, 'extract returned no list of entities');
      const all = found.map((entity, place) => toEntity(port, input, { entity, place }));
      const entities = all.filter(({ mentions }) => mentions.length > 0);
      const dropped = all.length - entities.length;
      return {
        extraction: { entities, relations: relationsOf(entities) },
        detail: { entities_dropped: dropped },
      };
    },
    close: async () => port.close?.(),
  };
}

function toEntity(
  port: EntityExtractorPort,
  input: ExtractionInput,
  { entity, place }: { readonly entity: FoundEntity; readonly place: number },
): Entity {
  const { kind, name, aliases = [], mentions } = (entity ?? {}) as FoundEntity;
  const label = `entity ${place} of extract`;
  if (!entityKinds.includes(kind)) {
    throw wrong(port, `${label} has the kind ${JSON.stringify(kind)}: ${entityKinds.join(', ')}`);
  }
  for (const each of [name, ...aliases]) {
    const isName = typeof each === 'string' && each.trim() !== '';
    if (!isName || each.length > limits.document.entityNameCharactersMax) {
      throw wrong(port, `${label} has a name that is empty, too long or no text`);
    }
  }
  const { length } = input.text;
  for (const { start, end } of mentions ?? []) {
    const isInside = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0;
    if (!isInside || end <= start || end > length) {
      throw wrong(port, `${label} has a mention from ${start} to ${end} in ${length} characters`);
    }
  }
  const spans =
    mentions ?? [...new Set([name, ...aliases])].flatMap((n) => placesOf(input.text, n));
  const passageOf = passages(input);
  const placed = [...spans]
    .sort((one, other) => one.start - other.start)
    .map(({ start, end }): Mention => ({ start, end, passage: passageOf(start) }));
  return { kind, name, aliases, mentions: placed };
}

function placesOf(text: string, name: string): { start: number; end: number }[] {
  const places: { start: number; end: number }[] = [];
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    places.push({ start: at, end: at + name.length });
    if (places.length === limits.document.mentionsPerEntityMax) break;
  }
  return places;
}

/** The number of the last piece that begins at or before an offset. */
function passages({ pieces }: ExtractionInput): (offset: number) => number {
  return (offset) => {
    let [low, high] = [0, pieces.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pieces[middle]?.startOffset ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

function wrong({ name }: EntityExtractorPort, what: string): Failure {
  return new Failure('step_output_invalid', `${name}: ${what}`);
}
