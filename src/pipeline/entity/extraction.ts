/** What an extractor finds in a document, whoever does the finding. */
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
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costCents: number;
  readonly detail: Readonly<Record<string, number>>;
}

export interface Extractor {
  /** Undefined: no model, but rules. */
  readonly model: string | undefined;
  extract(input: ExtractionInput, signal: AbortSignal): Promise<ExtractionReport>;
}
