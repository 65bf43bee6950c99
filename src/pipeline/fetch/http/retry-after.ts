/** The header `Retry-After`: seconds, or one of three date formats. */

const forms = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
];
/** The oldest format has no time zone, and means the same one as the others. */
const withoutZone = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * The wait that the server asks for. A date in the past means no wait; an invalid value (a
 * fraction, a negative number, words) counts as absent.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const at = dateOf(text);
  return at === undefined ? undefined : Math.max(at - now, 0);
}

function dateOf(text: string): number | undefined {
  const isDate = forms.some((form) => form.test(text));
  const date = isDate ? text : withoutZone.test(text) ? `${text} GMT` : undefined;
  const at = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(at) ? undefined : at;
}
