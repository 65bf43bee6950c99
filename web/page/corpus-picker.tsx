/** Chooses an existing corpus, or a new one. */
import { useState } from 'react';
import { Menu } from '../part/choice.tsx';
import { useCorpora } from '../part/corpus-query.ts';
import { corpusProblem } from './preflight.ts';

const fresh = '+ new';

/**
 * The corpus of a form: the one of the link or the choice, otherwise the first of the list. Empty
 * until the list is read; then it stays, also when the list changes.
 */
export function useChosenCorpus(given: string | undefined) {
  const read = useCorpora().data?.items.map(({ name }) => name);
  const [first, setFirst] = useState<string>();
  if (first === undefined && read) setFirst(read[0] ?? 'documents');
  const [picked, setPicked] = useState({ given, corpus: given });
  // A link to the page names the corpus again.
  const named = picked.given === given ? picked.corpus : given;
  return {
    names: read ?? [],
    corpus: named ?? first ?? '',
    setCorpus: (name: string): void => setPicked({ given, corpus: name }),
  };
}

export interface CorpusPickerProps {
  readonly names: readonly string[];
  readonly value: string;
  readonly onChange: (name: string) => void;
}

export function CorpusPicker({ names, value, onChange }: CorpusPickerProps) {
  const [isNew, setNew] = useState(false);
  const isNaming = isNew || !names.includes(value);
  const problem = isNaming ? corpusProblem(value) : undefined;
  const options = [...names.map((name) => ({ value: name, name })), { value: fresh, name: 'new…' }];
  const pick = (name: string): void => {
    setNew(name === fresh);
    onChange(name === fresh ? '' : name);
  };
  return (
    <div className="row" style={{ alignItems: 'flex-end' }}>
      {names.length > 0 && (
        <Menu label="Corpus" options={options} value={isNaming ? fresh : value} onChange={pick} />
      )}
      {isNaming && (
        <label className="field">
          <span>Name of the new corpus</span>
          <input
            className="input"
            value={value}
            placeholder="handbook"
            aria-invalid={problem !== undefined && value !== ''}
            onChange={(event) => onChange(event.target.value)}
          />
        </label>
      )}
      {problem !== undefined && value !== '' && <span className="tone-bad">{problem}</span>}
    </div>
  );
}
