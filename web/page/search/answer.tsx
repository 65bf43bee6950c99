/**
 * The answer of a model to the words of the search, sentence by sentence, with its passages. It is
 * asked for by a button, because it costs money.
 */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { BodyOf } from '../../../src/contract/contract.ts';
import type {
  Answer,
  AnswerPassages,
  AnswerSentence,
} from '../../../src/contract/schema/schema.ts';
import { Badge, Problem } from '../../part/basic.tsx';
import { money, shortSource } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';
import type { SearchBody } from './request.ts';

type Question = BodyOf<'POST /ask'>;
type Passage = AnswerPassages['passages'][number];

/** What has arrived so far. */
interface Reading {
  readonly passages: readonly Passage[];
  readonly sentences: readonly AnswerSentence[];
  readonly whole?: Answer;
  readonly error?: unknown;
}

const nothing: Reading = { passages: [], sentences: [] };

/** Nothing is shown if the service has no model for answers. */
export function AnswerPane({ body }: { body: SearchBody }) {
  const { client } = useWorkbench();
  const { data: model } = useQuery({
    queryKey: ['answer-model'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => client().ask('GET /system', { signal }),
    select: ({ answer_model }) => answer_model,
  });
  if (!model || body.query === '') return null;
  const question = questionOf(body);
  return <AnswerTo key={JSON.stringify(question)} question={question} model={model} />;
}

function questionOf({ corpus_name, corpus_names, query, mode, filter }: SearchBody): Question {
  return {
    ...(corpus_names ? { corpus_names } : { corpus_name }),
    question: query,
    ...(mode && { mode }),
    ...(filter && { filter }),
  };
}

function AnswerTo({ question, model }: { question: Question; model: string }) {
  const { reading, isReading, read, stop } = useAnswer(question);
  if (!reading) {
    return (
      <p>
        <button type="button" className="button" onClick={() => void read()}>
          {`Answer with ${model}`}
        </button>
      </p>
    );
  }
  return (
    <section className="card stack answer" aria-label="Answer" aria-busy={isReading}>
      <div className="row spread">
        <h2>Answer</h2>
        <span className="row soft small">
          <span>
            {isReading ? `${model} reads ${reading.passages.length} passages…` : costOf(reading)}
          </span>
          {isReading && (
            <button type="button" className="button" onClick={stop}>
              Stop
            </button>
          )}
        </span>
      </div>
      {reading.error !== undefined && <Problem error={reading.error} onRetry={() => void read()} />}
      <p className="answer-text" dir="auto" aria-live="polite">
        {reading.sentences.map((sentence, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: sentences are only added
          <SentenceView key={place} {...{ sentence, question }} passages={reading.passages} />
        ))}
      </p>
      <Outcome whole={reading.whole} />
      <Cited reading={reading} question={question} />
    </section>
  );
}

/** One request at a time; leaving the page ends it, and so the work of the model. */
function useAnswer(question: Question) {
  const { client } = useWorkbench();
  const [reading, setReading] = useState<Reading>();
  const [isReading, setIsReading] = useState(false);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const read = async (): Promise<void> => {
    const leaving = new AbortController();
    running.current = leaving;
    setReading(nothing);
    setIsReading(true);
    try {
      for await (const { event, data } of client().answer(question, leaving.signal)) {
        setReading((before = nothing) => {
          if (event === 'passages') return { ...before, passages: data.passages };
          if (event === 'sentence') return { ...before, sentences: [...before.sentences, data] };
          return { passages: data.passages, sentences: data.sentences, whole: data };
        });
      }
    } catch (error) {
      if (!leaving.signal.aborted) setReading((before = nothing) => ({ ...before, error }));
    }
    if (running.current === leaving) setIsReading(false);
  };
  return { reading, isReading, read, stop: () => running.current?.abort() };
}

function costOf({ whole }: Reading): string {
  if (!whole) return 'stopped';
  if (whole.is_cached) return 'paid for before';
  return whole.cost_cents === null ? 'price unknown' : money(whole.cost_cents);
}

interface SentenceViewProps {
  readonly sentence: AnswerSentence;
  readonly question: Question;
  readonly passages: readonly Passage[];
}

function SentenceView({ sentence, question, passages }: SentenceViewProps) {
  return (
    <>
      {`${sentence.text} `}
      {!sentence.is_supported && <Badge tone="warn">no source</Badge>}
      {sentence.citations.map((number) => {
        const passage = passages.find((one) => one.number === number);
        return (
          passage && (
            <PassageLink key={number} {...{ passage, question }}>{`[${number}]`}</PassageLink>
          )
        );
      })}{' '}
    </>
  );
}

interface PassageLinkProps {
  readonly passage: Passage;
  readonly question: Question;
  readonly children: string;
}

function PassageLink({ passage, question, children }: PassageLinkProps) {
  return (
    <Link
      to="/documents/$id"
      params={{ id: passage.document_id }}
      search={{ chunk: passage.chunk_id, q: question.question }}
    >
      {children}
    </Link>
  );
}

function Outcome({ whole }: { whole: Answer | undefined }) {
  if (whole?.outcome === 'not_in_corpus') {
    return <p>The documents do not have the answer. The closest passages are below.</p>;
  }
  if (whole?.outcome === 'unsupported') {
    return <p className="tone-warn">No sentence names a passage: do not rely on this answer.</p>;
  }
  return whole?.is_cut ? <p className="soft">The answer was too long and ends here.</p> : null;
}

/** The passages that the sentences name, in their order. */
function Cited({ reading, question }: { reading: Reading; question: Question }) {
  const numbers = new Set(reading.sentences.flatMap(({ citations }) => citations));
  const cited = reading.passages.filter(({ number }) => numbers.has(number));
  if (cited.length === 0) return null;
  return (
    <ol className="stack tight small" aria-label="Cited passages">
      {cited.map((passage) => (
        <li key={passage.number} className="row">
          <span className="soft number">{`[${passage.number}]`}</span>
          <PassageLink {...{ passage, question }}>
            {passage.title ?? shortSource(passage.source_url)}
          </PassageLink>
          <bdi className="soft">{passage.heading.replaceAll(' > ', ' › ')}</bdi>
        </li>
      ))}
    </ol>
  );
}
