/** The search field, the corpora, and the filters. */
import type { KeyboardEvent } from 'react';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { AddressedInput } from '../../part/addressed-input.tsx';
import { Segments } from '../../part/choice.tsx';
import { counted } from '../../part/wording.ts';
import type { SearchSearch } from '../../router.tsx';
import type { Asked } from './request.ts';

const modes = [
  { value: 'hybrid', name: 'Hybrid' },
  { value: 'keyword', name: 'Keyword' },
  { value: 'vector', name: 'Vector' },
] as const;

const filters = [
  { name: 'source', label: 'Source contains', placeholder: 'guide/setup' },
  { name: 'title', label: 'Title contains', placeholder: '' },
  { name: 'where', label: 'Metadata', placeholder: 'team = "ops" and year >= 2025' },
] as const;

export interface SearchFormProps {
  readonly asked: Asked;
  readonly names: readonly string[];
  readonly ask: (change: SearchSearch) => void;
  readonly onKey: (event: KeyboardEvent) => void;
}

export function SearchForm({ asked, names, ask, onKey }: SearchFormProps) {
  return (
    <search className="stack">
      <AddressedInput
        label="What to search for"
        isLabelHidden
        isFirst
        className="input large"
        type="search"
        placeholder="Search in your own words"
        dir="auto"
        value={asked.q}
        onType={(q) => ask({ q, near: undefined })}
        onKeyDown={onKey}
      />
      <div className="row search-options">
        <Corpora asked={asked} names={names} ask={ask} />
        <Segments
          label="Search mode"
          options={modes}
          value={asked.mode ?? 'hybrid'}
          onChange={(mode) => ask({ mode: mode === 'hybrid' ? undefined : mode })}
        />
        <label className="switch">
          <input
            type="checkbox"
            checked={asked.explain ?? false}
            onChange={(event) => ask({ explain: event.target.checked || undefined })}
          />
          Explain ranking
        </label>
        <Filters asked={asked} ask={ask} />
      </div>
    </search>
  );
}

type PartProps = Omit<SearchFormProps, 'onKey'>;

/** The last one stays chosen: a search needs a corpus. */
function Corpora({ asked: { corpora }, names, ask }: PartProps) {
  const options = [...new Set([...corpora, ...names])].sort();
  const turn = (name: string): void => {
    const others = corpora.filter((one) => one !== name);
    const next = others.length < corpora.length ? others : [...corpora, name];
    if (next.length > 0) ask({ corpus: next.join(',') });
  };
  const isFull = corpora.length >= limits.search.corporaMax;
  return (
    <details className="unfolding">
      <summary className="button">
        {corpora.length === 1
          ? `Corpus: ${corpora[0]}`
          : counted(corpora.length, 'corpus', 'corpora')}
      </summary>
      <fieldset className="stack tight card" aria-label="Corpora to search">
        {options.map((name) => (
          <label key={name} className="switch">
            <input
              type="checkbox"
              checked={corpora.includes(name)}
              disabled={isFull && !corpora.includes(name)}
              onChange={() => turn(name)}
            />
            {name}
          </label>
        ))}
      </fieldset>
    </details>
  );
}

function Filters({ asked, ask }: Omit<PartProps, 'names'>) {
  const active = filters.filter(({ name }) => asked[name] !== undefined).length;
  return (
    <details className="unfolding">
      <summary className="button">{active === 0 ? 'Filters' : `Filters (${active})`}</summary>
      <div className="stack tight card">
        {filters.map(({ name, label, placeholder }) => (
          <AddressedInput
            key={name}
            label={label}
            className="input"
            placeholder={placeholder}
            value={asked[name]}
            onType={(text) =>
              ask({ [name]: text, ...(name === 'source' && { folder: undefined }) })
            }
          />
        ))}
      </div>
    </details>
  );
}
