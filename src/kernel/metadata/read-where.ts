/** Conditions in either form, within their bounds. */
import { Failure } from '../failure/failure.ts';
import { limits } from '../limits/limits.ts';
import { conditionsOf, type Where } from './where.ts';
import { readWhereJson } from './where-json.ts';
import { readWhereText } from './where-text.ts';

export type WhereInput = string | Readonly<Record<string, unknown>>;

export function readWhere(given: WhereInput): Where {
  if (typeof given !== 'string') checkLength(given);
  const where = typeof given === 'string' ? readWhereText(given) : readWhereJson(given);
  const conditions = conditionsOf(where).length;
  const { whereConditionsMax } = limits.metadata;
  if (conditions <= whereConditionsMax) return where;
  const message = `where has ${conditions} conditions; use up to ${whereConditionsMax}`;
  throw new Failure('bad_request', message);
}

/** Stops at the limit, before anything else looks at the value. */
function checkLength(given: unknown): void {
  const { whereJsonCharactersMax } = limits.metadata;
  let length = 0;
  for (const open: unknown[] = [given]; open.length > 0; ) {
    const value = open.pop();
    length += typeof value === 'string' ? value.length + 1 : 1;
    if (Array.isArray(value)) open.push(...value.slice(0, whereJsonCharactersMax));
    else if (typeof value === 'object' && value !== null) {
      for (const [name, part] of Object.entries(value)) {
        length += name.length;
        open.push(part);
      }
    }
    if (length + open.length <= whereJsonCharactersMax) continue;
    const message = `where has more than ${whereJsonCharactersMax} characters: shorten it`;
    throw new Failure('bad_request', message);
  }
}
