/** `pawl corpora entities`: people, places and other entities in the documents of a corpus. */
import type { Corpus } from '../../contract/schema/schema.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { type EntityKind, entityKinds } from '../../pipeline/entity/extraction.ts';
import { answer, type Call, numberOf, type Option, textOf, usageError } from '../command.ts';
import type { PawlClient } from '../pawl-client.ts';
import { printTable } from '../view/table.ts';
import { number, printable } from '../view/wording.ts';

export const entityOptions: Readonly<Record<string, Option>> = {
  kind: {
    type: 'string',
    value: 'K',
    choices: entityKinds,
    meaning: `entities: only ${entityKinds.join(', ')}`,
  },
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
  limit: {
    type: 'string',
    short: 'n',
    value: 'N',
    meaning: 'entities: maximum number, most frequent first',
  },
};

export async function printEntities(
  call: Call,
  { name }: Corpus,
  { ask }: PawlClient,
): Promise<number> {
  const kind = textOf(call.flags, 'kind') as EntityKind | undefined;
  const limit =
    numberOf(call.flags, 'limit', { min: 1, max: limits.request.entitiesMax }) ??
    limits.request.pageItemsDefault;
  const query = { kind, limit };
  const document = textOf(call.flags, 'document');
  const entity = textOf(call.flags, 'with');
  if (document !== undefined && entity !== undefined) {
    throw usageError('use --document or --with, not both');
  }
  if (document !== undefined) {
    return show(
      call,
      await ask('GET /documents/:id/entities', { params: { id: document }, query }),
    );
  }
  if (entity === undefined) {
    return show(call, await ask('GET /corpora/:name/entities', { params: { name }, query }));
  }
  const asking = { params: { name, entity }, query: { limit } };
  const page = await ask('GET /corpora/:name/entities/:entity', asking);
  return show(call, {
    ...page,
    items: page.items.filter((row) => kind === undefined || row.kind === kind),
  });
}

interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

/** Columns are the fields: numbers right-aligned, lists joined, positions only counted. */
function show(call: Call, page: Page): number {
  const { terminal } = call;
  const [first] = page.items;
  return answer(call, page, () => {
    if (!first) return terminal.print('no entities');
    const names = Object.keys(first).filter((name) => name !== 'places');
    printTable(
      terminal,
      names.map((name) => `${typeof first[name] === 'number' ? '>' : ''}${name.toUpperCase()}`),
      page.items.map((row) => names.map((name) => cellOf(row[name]))),
    );
  });
}

function cellOf(value: unknown): string {
  if (typeof value === 'number') return number(value);
  return printable(Array.isArray(value) ? value.join(', ') : String(value));
}
