/** Conditions in either form, within their bounds. */
import { Failure } from '../failure/failure.ts';
import { limits } from '../limits/limits.ts';
import { conditionsOf, type Where } from './where.ts';
import { readWhereJson } from './where-json.ts';
import { readWhereText } from './where-text.ts';

export type WhereInput = string | Readonly<Record<string, unknown>>;

export function readWhere(given: WhereInput): Where {
  const where = typeof given === 'string' ? readWhereText(given) : readWhereJson(given);
  const conditions = conditionsOf(where).length;
  const { whereConditionsMax } = limits.metadata;
  if (conditions <= whereConditionsMax) return where;
  const message = `where has ${conditions} conditions; use up to ${whereConditionsMax}`;
  throw new Failure('bad_request', message);
}
