/** The search box of the first page, with queries that the corpus can answer. */
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Corpus } from '../../../src/contract/schema/schema.ts';
import { Menu } from '../../part/choice.tsx';
import { Samples } from '../search/samples.tsx';

interface HomeSearchProps {
  readonly corpora: readonly Corpus[];
  /** The one that is searched unless another is chosen. */
  readonly first: Corpus;
}

export function HomeSearch({ corpora, first }: HomeSearchProps) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string>();
  const corpus = chosen ?? first.name;
  const search = (event: FormEvent): void => {
    event.preventDefault();
    void navigate({ to: '/search', search: { corpus, q: text.trim() || undefined } });
  };
  return (
    <search className="card stack">
      <form className="home-search" onSubmit={search}>
        <label className="field grow">
          <span>{`Search ${corpus}`}</span>
          <input
            className="input large"
            type="search"
            dir="auto"
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </label>
        {corpora.length > 1 && (
          <Menu
            label="Corpus"
            options={corpora.map(({ name }) => ({ value: name, name }))}
            value={corpus}
            onChange={setChosen}
          />
        )}
        <button type="submit" className="button primary">
          Search
        </button>
      </form>
      <Samples corpus={corpus} />
    </search>
  );
}
