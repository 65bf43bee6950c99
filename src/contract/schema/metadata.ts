/** The schema of the metadata of documents. */

import { limits } from '../../kernel/limits/limits.ts';
import type { Metadata as Taken } from '../../kernel/metadata/metadata.ts';
import { Type } from './type.ts';

const { keysMax, textCharactersMax, listMax } = limits.metadata;
const text = { type: 'string', maxLength: textCharactersMax };
/** Not a union: the error for a wrong value names all types, not only the first. */
const value = Type.Unsafe<Taken[string]>({
  ...text,
  type: ['string', 'number', 'boolean', 'array'],
  items: text,
  maxItems: listMax,
});

/** What the schema cannot state (the form of keys) is checked when the request is handled. */
export const Metadata = Type.Unsafe<Taken>(
  Type.Record(Type.String(), value, {
    maxProperties: keysMax,
    description:
      'Your own keys and values: strings, numbers, booleans or lists of strings. A key begins ' +
      'with a letter and has letters, digits, `_`, `.` and `-`.',
  }),
);
