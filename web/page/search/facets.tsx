/** How many documents match, by property. A value is a filter of the search. */
import type { Found } from '../../../src/contract/schema/schema.ts';
import { count } from '../../part/wording.ts';
import type { SearchSearch } from '../../router.tsx';
import { type Facet, facets } from './request.ts';

const labels: Readonly<Record<Facet, string>> = {
  type: 'Type',
  host: 'Site',
  folder: 'Folder',
  language: 'Language',
  date: 'Changed',
};
const valuesMax = 6;

export interface FacetsProps {
  readonly found: Found['facets'];
  readonly asked: SearchSearch;
  readonly ask: (change: SearchSearch) => void;
}

export function Facets({ found, asked, ask }: FacetsProps) {
  const shown = facets.flatMap((name) => {
    const values = (found[name] ?? []).map((each) => ({ ...each, value: String(each.value) }));
    const chosen = name === 'type' ? undefined : asked[name];
    return values.length > 1 || chosen !== undefined ? [{ name, values, chosen }] : [];
  });
  if (shown.length === 0) return null;
  return (
    <section className="facets-of-search" aria-label="Narrow the search">
      {shown.map(({ name, values, chosen }) => (
        <fieldset key={name} className="row" aria-label={labels[name]}>
          <span className="soft small">{labels[name]}</span>
          {withChosen(values, chosen)
            .slice(0, valuesMax)
            .map(({ value, count: documents }) =>
              name === 'type' ? (
                <span key={value} className="small">
                  {`${value} `}
                  <span className="soft">{count(documents)}</span>
                </span>
              ) : (
                <button
                  key={value}
                  type="button"
                  className="chip"
                  aria-pressed={value === chosen}
                  onClick={() =>
                    ask({
                      [name]: value === chosen ? undefined : value,
                      ...(name === 'folder' && { source: undefined }),
                    })
                  }
                >
                  <bdi>{value}</bdi> <span className="soft">{count(documents)}</span>
                </button>
              ),
            )}
        </fieldset>
      ))}
    </section>
  );
}

interface Counted {
  readonly value: string;
  readonly count: number;
}

/** A chosen value can be given up even if it is not among the most frequent. */
function withChosen(values: readonly Counted[], chosen: string | undefined): readonly Counted[] {
  if (chosen === undefined || values.some(({ value }) => value === chosen)) return values;
  return [{ value: chosen, count: 0 }, ...values];
}
