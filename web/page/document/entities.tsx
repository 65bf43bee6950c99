/** The entities of a document, and with what each occurs together in the corpus. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Document, RelatedEntity } from '../../../src/contract/schema/schema.ts';
import { Problem, Skeleton } from '../../part/basic.tsx';
import { counted } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';
import { EntityGraph } from './entity-graph.tsx';

const entitiesMax = 60;
const neighboursMax = 8;

export function Entities({ document }: { document: Document }) {
  const { client } = useWorkbench();
  const [chosen, setChosen] = useState<string>();
  const { document_id: id, generation, corpus_name } = document;
  const { data, isPending, isError, error } = useQuery({
    queryKey: ['document', id, 'entities', generation],
    queryFn: ({ signal }) =>
      client().ask('GET /documents/:id/entities', {
        params: { id },
        query: { limit: entitiesMax },
        signal,
      }),
  });
  return (
    <section className="card stack" aria-label="Entities">
      <h2>Entities</h2>
      {isPending && <Skeleton lines={2} />}
      {isError && <Problem error={error} />}
      {data?.items.length === 0 && <p className="soft">None found.</p>}
      <div className="row">
        {data?.items.map(({ kind, name, mentions }) => (
          <button
            key={`${kind} ${name}`}
            type="button"
            className="chip"
            title={kind}
            aria-pressed={name === chosen}
            onClick={() => setChosen(name === chosen ? undefined : name)}
          >
            <bdi>{name}</bdi>
            {mentions > 1 && <span className="soft">{` × ${mentions}`}</span>}
          </button>
        ))}
      </div>
      {data && data.items.length >= entitiesMax && (
        <p className="soft small">{`The first ${entitiesMax} are shown.`}</p>
      )}
      {chosen !== undefined && <Neighbours corpus={corpus_name} name={chosen} />}
    </section>
  );
}

/** What shares passages with an entity. */
export function Neighbours({ corpus, name }: { corpus: string; name: string }) {
  const { client } = useWorkbench();
  const { data, isPending, isError, error } = useQuery({
    queryKey: ['corpus', corpus, 'related', name],
    queryFn: ({ signal }) =>
      client().ask('GET /corpora/:name/entities/:entity', {
        params: { name: corpus, entity: name },
        query: { limit: neighboursMax },
        signal,
      }),
  });
  const others = data?.items ?? [];
  return (
    <section className="stack" aria-label={`Together with ${name}`}>
      {isPending && <Skeleton lines={3} />}
      {isError && <Problem error={error} />}
      {data && others.length === 0 && (
        <p className="soft">No other entity is in the same passages.</p>
      )}
      {others.length > 0 && (
        <>
          <EntityGraph name={name} others={others} />
          <ul className="stack tight">
            {others.map((other) => (
              <Neighbour key={`${other.kind} ${other.name}`} other={other} />
            ))}
          </ul>
        </>
      )}
      <Link to="/search" search={{ corpus, q: `"${name.replaceAll('"', '')}"` }}>
        Search {corpus} for it
      </Link>
    </section>
  );
}

function Neighbour({ other: { name, passages, documents } }: { other: RelatedEntity }) {
  return (
    <li className="row spread small">
      <bdi>{name}</bdi>
      <span className="soft">
        {`${counted(passages, 'passage')} in ${counted(documents, 'document')}`}
      </span>
    </li>
  );
}
