/** The form of a new source, of any kind. */
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { Problem } from '../../part/basic.tsx';
import { Menu } from '../../part/choice.tsx';
import { useWorkbench } from '../../workbench.ts';
import { CorpusPicker, useChosenCorpus } from '../corpus-picker.tsx';
import { corpusProblem } from '../preflight.ts';
import { Schedule } from './schedule.tsx';
import {
  draftProblem,
  kindForms,
  optionForms,
  type SourceDraft,
  type SourceKind,
  sourceBody,
} from './source-draft.ts';
import '../../style/source.css';

const kinds = Object.entries(kindForms).map(([value, { name }]) => ({ value, name }));

function useSourceDraft() {
  const given = useSearch({ from: '/sources/new' });
  const { names, corpus, setCorpus } = useChosenCorpus(given.corpus);
  const [draft, setDraft] = useState<SourceDraft>({
    kind: given.kind && given.kind in kindForms ? given.kind : 'urls',
    location: given.location ?? '',
    corpus: '',
    name: '',
    schedule: '1d',
    options: {},
  });
  const change = (part: Partial<SourceDraft>): void => setDraft((now) => ({ ...now, ...part }));
  return { draft: { ...draft, corpus }, names, change, setCorpus };
}

export function SourceFormPage() {
  const { draft, names, change, setCorpus } = useSourceDraft();
  const { follow, problem } = useFollow(draft);
  const form = kindForms[draft.kind];
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    follow.mutate((submitter as HTMLButtonElement | null)?.value === 'plan');
  };
  return (
    <div className="page narrow">
      <Link to="/sources" className="soft small">
        ← Sources
      </Link>
      <header className="page-head">
        <h1>Add a source</h1>
      </header>
      <form className="card stack source-form" onSubmit={submit}>
        <div className="row">
          <Menu
            label="Kind"
            options={kinds}
            value={draft.kind}
            onChange={(kind) => change({ kind: kind as SourceKind })}
          />
          <CorpusPicker names={names} value={draft.corpus} onChange={setCorpus} />
        </div>
        <Location draft={draft} change={change} />
        <p className="soft">{form.about}</p>
        <Schedule value={draft.schedule} onChange={(schedule) => change({ schedule })} />
        <Options draft={draft} change={change} />
        {follow.isError && <Problem error={follow.error} />}
        <div className="row middle">
          <button
            type="submit"
            value="run"
            className="button primary"
            disabled={problem !== undefined || follow.isPending}
          >
            {`Follow into ${draft.corpus}`}
          </button>
          <button
            type="submit"
            value="plan"
            className="button"
            title="Adds the source, and first only shows what a run would do"
            disabled={problem !== undefined || follow.isPending}
          >
            Dry run first
          </button>
          {problem !== undefined && <span className="soft">{problem}</span>}
        </div>
      </form>
    </div>
  );
}

/** Adds the source and begins its first run, or the plan of it. */
function useFollow(draft: SourceDraft) {
  const { client, queries } = useWorkbench();
  const navigate = useNavigate();
  const follow = useMutation({
    mutationFn: async (isPlan: boolean) => {
      const schedule = isPlan ? '' : draft.schedule;
      const body = sourceBody({ ...draft, schedule });
      const { name } = await client().ask('POST /sources', { body });
      // A schedule begins the first run itself.
      if (schedule === '') {
        const body = { plan: isPlan };
        await client().ask('POST /sources/:name/run', { params: { name }, body });
      }
      return name;
    },
    onSuccess: (name) => navigate({ to: '/sources/$name', params: { name } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['sources'] }),
  });
  const wrong = corpusProblem(draft.corpus);
  const problem = draftProblem(draft) ?? (wrong === undefined ? undefined : `Corpus: ${wrong}.`);
  return { follow, problem };
}

interface PartProps {
  readonly draft: SourceDraft;
  readonly change: (part: Partial<SourceDraft>) => void;
}

function Location({ draft: { kind, location }, change }: PartProps) {
  const { label, hint } = kindForms[kind];
  const id = useId();
  const given = { id, className: 'input', value: location, placeholder: hint };
  return (
    <label htmlFor={id} className="field">
      <span>{label}</span>
      {kind === 'urls' ? (
        <textarea
          {...given}
          rows={4}
          onChange={({ target }) => change({ location: target.value })}
        />
      ) : (
        <input {...given} onChange={({ target }) => change({ location: target.value })} />
      )}
    </label>
  );
}

function Options({ draft, change }: PartProps) {
  const { options } = draft;
  return (
    <details>
      <summary>Options</summary>
      <div className="option-fields">
        <label className="field">
          <span>Name</span>
          <input
            className="input"
            value={draft.name}
            placeholder="made from the location"
            onChange={({ target }) => change({ name: target.value })}
          />
        </label>
        {kindForms[draft.kind].options.map((option) => (
          <label key={option} className="field">
            <span>{optionForms[option].name}</span>
            <input
              className="input"
              value={options[option] ?? ''}
              placeholder={optionForms[option].hint}
              onChange={({ target }) => change({ options: { ...options, [option]: target.value } })}
            />
          </label>
        ))}
      </div>
    </details>
  );
}
