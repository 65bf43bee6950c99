/** What an extractor finds in a document, whoever does the finding. */
import type { Origin } from '../../kernel/name/origin.ts';
import type { Prices, Tokens } from '../../provider/prices.ts';
import type { StepContext } from '../pipeline.ts';

export const entityKinds = [
  'person',
  'organization',
  'location',
  'nationality',
  'name',
  'date',
  'money',
  'percentage',
  'email',
  'url',
  'phone',
] as const;

export type EntityKind = (typeof entityKinds)[number];

/** A place in the document's text: `text.slice(start, end)` is how the entity is called there. */
export interface Mention {
  readonly start: number;
  readonly end: number;
  /** Mentions with the same number stand in the same sentence, or in the same small passage. */
  readonly passage: number;
}

export interface Entity {
  readonly kind: EntityKind;
  readonly name: string;
  /** Other names that the document has for it. */
  readonly aliases: readonly string[];
  /** In the order of the text. */
  readonly mentions: readonly Mention[];
}

/** Two entities that are named together, by their places in the list of entities. */
export interface Relation {
  readonly one: number;
  readonly other: number;
  /** In how many passages. */
  readonly weight: number;
}

export interface Extraction {
  readonly entities: readonly Entity[];
  readonly relations: readonly Relation[];
}

/** What an extractor is given: the text, and where it may be cut. */
export interface ExtractionInput {
  readonly text: string;
  readonly pieces: readonly {
    readonly startOffset: number;
    readonly endOffset: number;
    readonly tokenCount: number;
  }[];
}

export interface ExtractionReport {
  readonly extraction: Extraction;
  /** Undefined where it costs nothing. */
  readonly costs?: ExtractionCosts;
  readonly detail: Readonly<Record<string, number>>;
}

export interface ExtractionCosts {
  readonly paid: Tokens;
  readonly costCents: number;
  /** What was not paid, because it had been before. */
  readonly saved: Tokens;
  readonly savedCents: number;
  /** Its answers are kept and charged as they come. */
  readonly isMetered: boolean;
  readonly isPriced: boolean;
}

export interface ExtractionMeter {
  /** Undefined where nobody has told us. */
  readonly prices: Prices | undefined;
  /** What would be asked about a document, by the keys of the answers, and about what it costs. */
  questionsOf(input: ExtractionInput): readonly { readonly key: string; readonly tokens: Tokens }[];
}

export interface Extractor {
  /** Undefined: no model, but rules. */
  readonly model: string | undefined;
  readonly meter?: ExtractionMeter | undefined;
  /** Where texts are sent; undefined: they stay in this process. */
  readonly origin?: Origin | undefined;
  extract(
    input: ExtractionInput,
    context: Pick<StepContext, 'item' | 'signal' | 'progress'>,
  ): Promise<ExtractionReport>;
  close?: (() => Promise<void>) | undefined;
}
