/** `pawl corpora entities`: people, places and other entities in the documents of a corpus. */
import type { CorpusRow, EntityRow, RelatedRow } from '../../index.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { entityKinds } from '../../pipeline/entity/extraction.ts';
import { answer, type Call, numberOf, type Option, textOf, usageError } from '../command.ts';
import type { EntityOf, PawlClient } from '../pawl-client.ts';
import { printTable } from '../view/table.ts';
import { number, printable } from '../view/wording.ts';

export const entityOptions: Readonly<Record<string, Option>> = {
  kind: { type: 'string', value: 'K', meaning: `entities: only ${entityKinds.join(', ')}` },
  document: {
    type: 'string',
    value: 'ID',
    meaning: 'entities: those of one document, with positions',
  },
  with: {
    type: 'string',
    value: 'ENTITY',
    meaning: 'entities: those that share passages with this one',
  },
  limit: { type: 'string', value: 'N', meaning: 'entities: maximum number, most frequent first' },
};

export async function printEntities(
  call: Call,
  corpus: CorpusRow,
  pawl: PawlClient,
): Promise<number> {
  const kind = kindOf(call);
  const limit = numberOf(call.flags, 'limit', { min: 1, max: limits.request.entitiesMax });
  const filter = { ...(kind && { kind }), limit: limit ?? limits.request.pageItemsDefault };
  const document = textOf(call.flags, 'document');
  const partner = textOf(call.flags, 'with');
  if (document !== undefined && partner !== undefined) {
    throw usageError('use --document or --with, not both');
  }
  if (document !== undefined) {
    return show(call, await pawl.documentEntities(document, filter), documentShape);
  }
  if (partner !== undefined) {
    const rows = await pawl.related(corpus.name, partner, filter);
    return show(call, kind ? rows.filter((row) => row.kind === kind) : rows, relatedShape);
  }
  return show(call, await pawl.entities(corpus.name, filter), entityShape);
}

function kindOf({ flags }: Call): string | undefined {
  const kind = textOf(flags, 'kind');
  if (kind === undefined || entityKinds.some((known) => known === kind)) return kind;
  throw usageError(`--kind must be one of ${entityKinds.join(', ')}, not ${kind}`);
}

const entityShape = ({ kind, name, mentions, documents }: EntityRow) => ({
  kind,
  name,
  mentions,
  documents,
});

const documentShape = ({ kind, name, mentions, aliases, places }: EntityOf) => ({
  kind,
  name,
  mentions,
  aliases,
  places,
});

const relatedShape = ({ kind, name, weight, documents }: RelatedRow) => ({
  kind,
  name,
  passages: weight,
  documents,
});

type Shape = Readonly<Record<string, unknown>>;

/** Columns are the fields: numbers right-aligned, lists joined, positions only counted. */
function show<Row>(call: Call, rows: readonly Row[], shape: (row: Row) => Shape): number {
  const { terminal } = call;
  const shapes = rows.map(shape);
  return answer(call, { items: shapes, next_cursor: null }, () => {
    if (shapes.length === 0) return terminal.print('no entities');
    const names = Object.keys(shapes[0] ?? {}).filter((name) => name !== 'places');
    printTable(
      terminal,
      names.map(
        (name) => `${typeof shapes[0]?.[name] === 'number' ? '>' : ''}${name.toUpperCase()}`,
      ),
      shapes.map((row) => names.map((name) => cellOf(row[name]))),
    );
  });
}

function cellOf(value: unknown): string {
  if (typeof value === 'number') return number(value);
  return printable(Array.isArray(value) ? value.join(', ') : String(value));
}
