/** The result of entity extraction, for any extractor. */
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

/** A position in the document's text: `text.slice(start, end)` is the name used there. */
export interface Mention {
  readonly start: number;
  readonly end: number;
  /** Mentions with the same number are in the same sentence, or in the same small passage. */
  readonly passage: number;
}

export interface Entity {
  readonly kind: EntityKind;
  readonly name: string;
  /** Other names of it in the document. */
  readonly aliases: readonly string[];
  /** In text order. */
  readonly mentions: readonly Mention[];
}

/** Two entities that are named together, by their indexes in the list of entities. */
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

/** The input of an extractor: the text, and its chunk boundaries. */
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
  /** Undefined if it costs nothing. */
  readonly costs?: ExtractionCosts;
  readonly detail: Readonly<Record<string, number>>;
}

export interface ExtractionCosts {
  readonly paid: Tokens;
  readonly costCents: number;
  /** Tokens that were not paid, because they had been before. */
  readonly saved: Tokens;
  readonly savedCents: number;
  /** Its answers are stored and charged as they arrive. */
  readonly isMetered: boolean;
  readonly isPriced: boolean;
}

export interface ExtractionMeter {
  /** Undefined if unknown. */
  readonly prices: Prices | undefined;
  /** The requests for a document, by cache key, with estimated tokens. */
  questionsOf(input: ExtractionInput): readonly { readonly key: string; readonly tokens: Tokens }[];
}

export interface Extractor {
  /** Undefined for rules without a model. */
  readonly model: string | undefined;
  readonly meter?: ExtractionMeter | undefined;
  /** Where texts are sent; undefined if they stay in this process. */
  readonly origin?: Origin | undefined;
  extract(
    input: ExtractionInput,
    context: Pick<StepContext, 'item' | 'signal' | 'progress'>,
  ): Promise<ExtractionReport>;
  close?: (() => Promise<void>) | undefined;
}
