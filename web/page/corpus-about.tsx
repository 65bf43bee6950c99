/** What a corpus costs and may cost, and the entities that its documents name. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { AnswerOf } from '../../src/contract/contract.ts';
import { Facts, Problem, Skeleton } from '../part/basic.tsx';
import { count, counted, money } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { Neighbours } from './document/entities.tsx';

type Corpus = AnswerOf<'GET /corpora/:name'>;

export function CorpusAbout({ corpus }: { corpus: Corpus }) {
  return (
    <div className="stack corpus-about">
      <Facts
        facts={[
          { name: 'Model', value: corpus.model ?? 'words only', isPlain: true },
          { name: 'Chunk size', value: counted(corpus.chunk_tokens, 'token') },
          { name: 'Overlap', value: counted(corpus.chunk_overlap_tokens, 'token') },
          { name: 'Spent', value: money(corpus.cost_cents) },
          {
            name: 'Budget',
            value: corpus.budget_cents === null ? 'none' : money(corpus.budget_cents),
          },
        ]}
      />
      {corpus.access !== 'read' && <Budget corpus={corpus} />}
      <CorpusEntities name={corpus.name} />
    </div>
  );
}

function Budget({ corpus: { name, budget_cents } }: { corpus: Corpus }) {
  const { client, notices, queries } = useWorkbench();
  const [text, setText] = useState(budget_cents === null ? '' : String(budget_cents));
  const isValid = /^\d*(?:\.\d+)?$/.test(text.trim());
  const set = useMutation({
    mutationFn: (cents: number | null) =>
      client().ask('POST /corpora/:name/budget', {
        params: { name },
        body: { budget_cents: cents },
      }),
    onSuccess: () => notices.tell('The budget is set.'),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['corpora', name] }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    set.mutate(text.trim() === '' ? null : Number(text));
  };
  return (
    <form className="row budget" onSubmit={submit}>
      <label className="field">
        <span>Budget in cents, for all jobs together</span>
        <input
          className="input"
          inputMode="decimal"
          value={text}
          placeholder="no budget"
          aria-invalid={!isValid}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      <button type="submit" className="button" disabled={!isValid || set.isPending}>
        Set budget
      </button>
    </form>
  );
}

const entitiesMax = 100;

function CorpusEntities({ name }: { name: string }) {
  const { client } = useWorkbench();
  const [chosen, setChosen] = useState<string>();
  const { data, isPending, isError, error } = useQuery({
    queryKey: ['corpus', name, 'entities'],
    queryFn: ({ signal }) =>
      client().ask('GET /corpora/:name/entities', {
        params: { name },
        query: { limit: entitiesMax },
        signal,
      }),
  });
  // The number beside each is the one that orders them.
  const entities = data?.items.toSorted((a, b) => b.documents - a.documents);
  return (
    <section className="card stack" aria-label="Entities">
      <h2>Entities</h2>
      {isPending && <Skeleton lines={3} />}
      {isError && <Problem error={error} />}
      {data?.items.length === 0 && <p className="soft">None found.</p>}
      <div className="row">
        {entities?.map((entity) => (
          <button
            key={`${entity.kind} ${entity.name}`}
            type="button"
            className="chip"
            title={`${entity.kind}, in ${counted(entity.documents, 'document')}`}
            aria-pressed={entity.name === chosen}
            onClick={() => setChosen(entity.name === chosen ? undefined : entity.name)}
          >
            <bdi>{entity.name}</bdi> <span className="soft">{count(entity.documents)}</span>
          </button>
        ))}
      </div>
      {chosen !== undefined && <Neighbours corpus={name} name={chosen} />}
    </section>
  );
}
