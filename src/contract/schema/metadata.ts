/** The schema of the metadata of documents. */
import Type from 'typebox';
import { limits } from '../../kernel/limits/limits.ts';
import type { Metadata as Taken } from '../../kernel/metadata/metadata.ts';

const { keysMax, textCharactersMax, listMax } = limits.metadata;
const text = Type.String({ maxLength: textCharactersMax });

/** What the schema cannot state (the form of keys) is checked when the request is handled. */
export const Metadata = Type.Unsafe<Taken>(
  Type.Record(
    Type.String(),
    Type.Union([text, Type.Number(), Type.Boolean(), Type.Array(text, { maxItems: listMax })]),
    {
      maxProperties: keysMax,
      description:
        'Your own keys and values: strings, numbers, booleans or lists of strings. A key begins ' +
        'with a letter and has letters, digits, `_`, `.` and `-`.',
    },
  ),
);
