/** The flags of `pawl search` that narrow a search. A passage must match all of them. */
import { resolve } from 'node:path';
import type { BodyOf } from '../contract/contract.ts';
import { type Call, type Flags, type Option, textOf, usageError } from './command.ts';

export const filterOptions: Readonly<Record<string, Option>> = {
  source: { type: 'string', value: 'PREFIX', meaning: 'only sources that start with this' },
  site: { type: 'string', value: 'HOST', meaning: 'only pages of this host' },
  title: { type: 'string', value: 'TEXT', meaning: 'only documents with this in the title' },
  heading: { type: 'string', value: 'TEXT', meaning: 'only passages below such a heading' },
  language: { type: 'string', value: 'CODE', meaning: 'only this language, such as en' },
  document: { type: 'string', value: 'ID', meaning: 'only this document' },
  since: { type: 'string', value: 'DATE', meaning: 'only documents changed on or after this day' },
  where: {
    type: 'string',
    value: 'CONDITION',
    meaning: 'only documents whose metadata matches: team = "ops" and year >= 2025',
  },
  before: { type: 'string', value: 'DATE', meaning: 'only documents changed before this day' },
};

type Filter = NonNullable<BodyOf<'POST /search'>['filter']>;

/** Undefined if no flag was given. */
export function filterFrom({ flags }: Call): Filter | undefined {
  const source = textOf(flags, 'source');
  const given = {
    source: source && pathOrUrl(source, flags),
    host: textOf(flags, 'site'),
    title: textOf(flags, 'title'),
    heading: textOf(flags, 'heading'),
    language: textOf(flags, 'language'),
    document_id: textOf(flags, 'document'),
    updated_from: timeOf(flags, 'since'),
    updated_before: timeOf(flags, 'before'),
    where: textOf(flags, 'where'),
  };
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as Filter);
}

/** A local store knows files by their absolute paths, a service by the names it received. */
function pathOrUrl(text: string, { url }: Flags): string {
  const isName = /^(?:https?|inline|upload):/.test(text) || url !== undefined;
  return isName ? text : resolve(text);
}

function timeOf(flags: Flags, name: string): string | undefined {
  const text = textOf(flags, name);
  if (text === undefined) return undefined;
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  const how = 'Use a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z.';
  throw usageError(`--${name} cannot be ${text}`, how);
}
