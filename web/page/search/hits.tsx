/** The documents that were found, each with its best passages. */
import { Link } from '@tanstack/react-router';
import type { RefObject } from 'react';
import type { Hit } from '../../../src/contract/schema/schema.ts';
import { Badge } from '../../part/basic.tsx';
import { Prose } from '../../part/prose/prose.tsx';
import { count, linkOf, shortSource } from '../../part/wording.ts';
import { Explained } from './explained.tsx';
import { Relevance } from './relevance.tsx';

export interface HitsProps {
  readonly hits: readonly Hit[];
  readonly words: string;
  /** The place of the chosen result. */
  readonly chosen: number;
  readonly onChoose: (place: number) => void;
  readonly hasSeveralCorpora: boolean;
  readonly onWhere: (condition: string) => void;
  readonly list: RefObject<HTMLOListElement | null>;
}

export function Hits(props: HitsProps) {
  return (
    <ol ref={props.list} className="card flush" aria-label="Results">
      {props.hits.map((hit, place) => (
        <HitView key={`${hit.corpus_name} ${hit.chunk_id}`} hit={hit} place={place} {...props} />
      ))}
    </ol>
  );
}

const charactersMax = 420;
const furtherCharactersMax = 180;
const furtherMax = 1;

function HitView(props: HitsProps & { hit: Hit; place: number }) {
  const { hit, place, words, chosen, onChoose, hasSeveralCorpora, onWhere } = props;
  const isChosen = place === chosen;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the arrow keys of the search field choose, too
    <li
      className={hit.near ? 'hit near' : 'hit'}
      aria-current={isChosen || undefined}
      onClick={() => onChoose(place)}
    >
      <div className="row spread">
        <h2 className="grow" dir="auto">
          <Link
            to="/documents/$id"
            params={{ id: hit.document_id }}
            search={{ chunk: hit.chunk_id, q: words }}
            onFocus={() => onChoose(place)}
          >
            {hit.title ?? shortSource(hit.source_url)}
          </Link>
        </h2>
        <Relevance value={hit.relevance} />
      </div>
      <div className="row small soft">
        {hasSeveralCorpora && <Badge>{hit.corpus_name}</Badge>}
        <Where hit={hit} title={hit.title} />
        <Source source={hit.source_url} />
        {hit.similar > 0 && <Badge>{`and ${hit.similar} like it`}</Badge>}
        <MetadataChips metadata={hit.metadata} onWhere={onWhere} />
      </div>
      <Prose text={hit.text} ranges={hit.highlights} charactersMax={charactersMax} />
      <Further hit={hit} words={words} />
      {hit.explanation && <Explained hit={hit} place={place + 1} />}
    </li>
  );
}

/** The next passages of the same document, and the way to all others. */
function Further({ hit, words }: { hit: Hit; words: string }) {
  const further = hit.passages ?? [];
  const shown = further.slice(0, furtherMax);
  const more = hit.more_in_document + further.length - shown.length;
  const at = { to: '/documents/$id', params: { id: hit.document_id } } as const;
  return (
    <>
      {shown.map((passage) => (
        <div key={passage.chunk_id} className="further">
          <Link {...at} className="row small" search={{ chunk: passage.chunk_id, q: words }}>
            <Where hit={passage} title={hit.title} isNamed />
          </Link>
          <Prose
            text={passage.text}
            ranges={passage.highlights}
            charactersMax={furtherCharactersMax}
          />
        </div>
      ))}
      {more > 0 && (
        <Link {...at} className="small" search={{ chunk: hit.chunk_id, q: words }}>
          {`${count(more)} more in this document`}
        </Link>
      )}
    </>
  );
}

type Place = Pick<Hit, 'heading' | 'page'>;

interface WhereProps {
  readonly hit: Place;
  /** The title of the document, which stands above. */
  readonly title: string | null;
  readonly isNamed?: boolean;
}

function Where({ hit, title, isNamed = false }: WhereProps) {
  const heading = placeIn(hit.heading, title);
  return (
    <>
      {heading !== '' && <bdi>{heading}</bdi>}
      {hit.page !== null && <span>{`page ${hit.page}`}</span>}
      {isNamed && heading === '' && hit.page === null && <span>another passage</span>}
    </>
  );
}

/** The headings above a passage, without the title of its document. */
function placeIn(headings: string, title: string | null): string {
  const [first, ...rest] = headings.split(' > ');
  return (first === title ? rest : [first, ...rest]).join(' › ');
}

function Source({ source }: { source: string }) {
  const link = linkOf(source);
  if (!link) return <bdi className="long-name">{shortSource(source)}</bdi>;
  return (
    <a className="long-name" href={link} target="_blank" rel="noreferrer noopener">
      <bdi>{shortSource(link)}</bdi>
    </a>
  );
}

const chipsMax = 4;

interface MetadataChipsProps {
  readonly metadata: Hit['metadata'];
  readonly onWhere: (condition: string) => void;
}

/** Each value is a filter. */
function MetadataChips({ metadata, onWhere }: MetadataChipsProps) {
  const values = Object.entries(metadata).filter(([, value]) => typeof value !== 'object');
  return values.slice(0, chipsMax).map(([key, value]) => (
    <button
      key={key}
      type="button"
      className="chip"
      title={`Only documents with this ${key}`}
      onClick={() => onWhere(`${key} = ${JSON.stringify(value)}`)}
    >
      {`${key}: ${String(value)}`}
    </button>
  ));
}
