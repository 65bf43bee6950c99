/** Points in memory, with Qdrant's filters. */
export interface Point {
  readonly id: string | number;
  vector: number[];
  payload: Record<string, unknown>;
}

export interface Filter {
  readonly must?: readonly Condition[];
  readonly must_not?: readonly Condition[];
}

interface Condition {
  readonly key?: string;
  readonly match?: { readonly value?: unknown; readonly any?: readonly unknown[] };
  readonly range?: { readonly lte?: number };
  readonly has_id?: readonly (string | number)[];
}

/** How each kind of condition is evaluated; Pawl uses no other. */
const judges: Readonly<Record<string, (point: Point, condition: Condition) => boolean>> = {
  match: ({ payload }, { key = '', match = {} }) =>
    match.any ? match.any.includes(payload[key]) : payload[key] === match.value,
  range: ({ payload }, { key = '', range = {} }) =>
    Number(payload[key]) <= (range.lte ?? Number.NaN),
  has_id: ({ id }, { has_id = [] }) => has_id.includes(id),
};

function holds(point: Point, condition: Condition): boolean {
  const kinds = Object.keys(condition).filter((name) => name !== 'key');
  return kinds.every((kind) => {
    const judge = judges[kind];
    if (!judge) throw new Error(`the condition ${kind} is not known here`);
    return judge(point, condition);
  });
}

export function matches(point: Point, { must = [], must_not = [] }: Filter = {}): boolean {
  return (
    must.every((condition) => holds(point, condition)) &&
    !must_not.some((condition) => holds(point, condition))
  );
}

export function cosine(one: readonly number[], other: readonly number[]): number {
  const dot = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((sum, value, place) => sum + value * (b[place] ?? 0), 0);
  const lengths = Math.sqrt(dot(one, one) * dot(other, other));
  return lengths === 0 ? 0 : dot(one, other) / lengths;
}
