/** A new batch task: kind of work, provider, and input. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { Empty, Problem, Skeleton } from '../part/basic.tsx';
import { Menu } from '../part/choice.tsx';
import { words } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { bodyOf, type Kind, kindsOf, nothing, problemOf, type TaskDraft } from './batch-draft.ts';

export function NewBatchTaskPage() {
  const { client } = useWorkbench();
  const query = useQuery({
    queryKey: ['batch-providers'],
    queryFn: ({ signal }) => client().ask('GET /batch/providers', { signal }),
  });
  const kinds = kindsOf(query.data?.items ?? []);
  return (
    <div className="page narrow">
      <Link to="/batch" className="soft small">
        ← Batch tasks
      </Link>
      <header className="page-head">
        <h1>New batch task</h1>
      </header>
      {query.isPending && <Skeleton lines={4} />}
      {query.isError && <Problem error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && kinds.length === 0 && <NoProviders />}
      {kinds.length > 0 && <TaskForm kinds={kinds} />}
    </div>
  );
}

function NoProviders() {
  return (
    <Empty title="No batch provider is configured">
      Set PAWL_BATCH_PROVIDERS to a file of providers and restart Pawl.
    </Empty>
  );
}

function TaskForm({ kinds }: { kinds: readonly Kind[] }) {
  const [draft, setDraft] = useState<TaskDraft>(nothing);
  const submit = useSubmit();
  const kind = kinds.find(({ value }) => value === draft.kind) ?? kinds[0];
  if (!kind) return null;
  const change = (changed: Partial<TaskDraft>): void => setDraft({ ...draft, ...changed });
  const problem = problemOf(kind, draft);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        submit.mutate({ kind, draft });
      }}
    >
      <Menu
        label="Task type"
        options={kinds.map((each) => ({ value: each.value, name: nameOf(each) }))}
        value={kind.value}
        onChange={(value) => change({ kind: value })}
      />
      {kind.input === 'urls' ? (
        <SourceFields draft={draft} onChange={change} />
      ) : (
        <RequestFields draft={draft} onChange={change} />
      )}
      {submit.isError && <Problem error={submit.error} />}
      <div className="row">
        <button
          type="submit"
          className="button primary"
          disabled={problem !== undefined || submit.isPending}
        >
          Submit task
        </button>
        {problem !== undefined && <span className="soft">{problem}</span>}
      </div>
    </form>
  );
}

const nameOf = ({ taskType, provider }: Kind): string =>
  provider === undefined ? words(taskType) : `${words(taskType)} by ${provider}`;

/** One key per form, so that sending it twice creates one task. */
function useSubmit() {
  const { client, queries } = useWorkbench();
  const navigate = useNavigate();
  const sent = useRef({ body: '', key: '' });
  return useMutation({
    mutationFn: ({ kind, draft }: { kind: Kind; draft: TaskDraft }) => {
      const body = bodyOf(kind, draft);
      const text = JSON.stringify(body);
      if (sent.current.body !== text) sent.current = { body: text, key: crypto.randomUUID() };
      const headers = { 'idempotency-key': sent.current.key };
      return client().ask('POST /batch/tasks', { body, headers });
    },
    onSuccess: async ({ task_id: id }) => {
      await queries.invalidateQueries({ queryKey: ['batch-tasks'] });
      await navigate({ to: '/batch/$id', params: { id } });
    },
  });
}

interface FieldsProps {
  readonly draft: TaskDraft;
  readonly onChange: (changed: Partial<TaskDraft>) => void;
}

function SourceFields({ draft, onChange }: FieldsProps) {
  return (
    <>
      <Lines
        label="Addresses, one per line"
        hint="https://example.org/talk.mp3"
        value={draft.urls}
        onChange={(urls) => onChange({ urls })}
      />
      <Line
        label="Language, if known"
        hint="en-GB"
        value={draft.language}
        onChange={(language) => onChange({ language })}
      />
      <Line
        label="Models, if the provider has several"
        hint="long, short"
        value={draft.models}
        onChange={(models) => onChange({ models })}
      />
    </>
  );
}

function RequestFields({ draft, onChange }: FieldsProps) {
  return (
    <>
      <Line
        label="Models"
        hint="gpt-4o-mini"
        value={draft.models}
        onChange={(models) => onChange({ models })}
      />
      <Line
        label="Instruction for every line"
        hint="Answer in one sentence."
        value={draft.instruction}
        onChange={(instruction) => onChange({ instruction })}
      />
      <Lines
        label="Questions or texts, one per line"
        hint="Who repaired the bridge?"
        value={draft.inputs}
        onChange={(inputs) => onChange({ inputs })}
      />
    </>
  );
}

interface LineProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Line({ label, hint, value, onChange }: LineProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        className="input"
        value={value}
        placeholder={hint}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

function Lines({ label, hint, value, onChange }: LineProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <textarea
        className="input"
        rows={6}
        value={value}
        placeholder={hint}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
