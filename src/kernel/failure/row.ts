/** One row of the failure table. */

export type FailureKind = 'rate_limited' | 'transient' | 'schema_invalid' | 'fatal';

export interface FailureRow {
  readonly errorCode: `E_${string}`;
  readonly kind: FailureKind;
  readonly httpStatus: number;
  readonly title: string;
  /** One sentence: what to do. */
  readonly advice: string;
}

type Text = Pick<FailureRow, 'title' | 'advice'>;

export const row = (
  errorCode: FailureRow['errorCode'],
  kind: FailureKind,
  httpStatus: number,
  text: Text,
): FailureRow => ({ errorCode, kind, httpStatus, ...text });

/** Something that a request names does not exist. */
export const noSuch = (what: string, advice: string): FailureRow =>
  row('E_UNKNOWN', 'fatal', 404, { title: `No such ${what}`, advice });
