/** Limits for the metadata of documents, and for conditions on it. */
import { kibibyte } from './unit.ts';

export const metadataLimits = {
  keysMax: 64,
  /** Letters and digits of any script, `_`, `.` and `-`; the first is a letter. */
  keyPattern: /^\p{L}[\p{L}\p{N}_.-]{0,63}$/u,
  /** An index entry of Postgres has up to 2,704 bytes, and a character up to three. */
  textCharactersMax: 500,
  listMax: 100,
  /** All of it, as JSON. */
  bytesMax: 16 * kibibyte,
  sidecarBytesMax: 64 * kibibyte,
  whereCharactersMax: 4000,
  /** The JSON form: all names and texts together, and one for each value. */
  whereJsonCharactersMax: 64 * kibibyte,
  whereConditionsMax: 100,
  whereDepthMax: 16,
  whereValuesMax: 200,
  /** Keys of a corpus, to look for the one that was meant. */
  keysListedMax: 1000,
  /** Keys that an error message lists. */
  keysToldMax: 12,
} as const;
