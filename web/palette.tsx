/** The command palette: jumps to a page, a corpus or a job, or searches, by typing a part of it. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useState } from 'react';
import type { Job } from '../src/contract/schema/schema.ts';
import { useCorpora } from './part/corpus-query.ts';
import { Dialog } from './part/dialog.tsx';
import { badgeOf } from './part/job-badge.ts';
import { counted, shortSource } from './part/wording.ts';
import './style/palette.css';
import { useWorkbench } from './workbench.ts';

const jobsRead = 50;
const shownMax = 12;

export interface Command {
  readonly kind: 'Search' | 'Page' | 'Corpus' | 'Job';
  readonly name: string;
  readonly more?: string | undefined;
  /** Found by this too, though it is not shown. */
  readonly id?: string | undefined;
  readonly run: () => void;
}

export interface PaletteProps {
  readonly pages: readonly { readonly to: string; readonly name: string }[];
  readonly onClose: () => void;
}

export function Palette({ pages, onClose }: PaletteProps) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const commands = useCommands(pages, text.trim()).slice(0, shownMax);
  const run = (command: Command | undefined): void => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && commands.length > 0) {
      event.preventDefault();
      setChosen((chosen + step + commands.length) % commands.length);
    } else if (event.key === 'Enter') run(commands[chosen]);
  };
  return (
    <Dialog title="Jump to" onClose={onClose}>
      <input
        className="input large"
        role="combobox"
        aria-label="A page, a corpus, a job, or words to search for"
        aria-expanded={commands.length > 0}
        aria-controls={id}
        aria-activedescendant={commands.length > 0 ? `${id}-${chosen}` : undefined}
        placeholder="Page, corpus, job, or words to search for"
        dir="auto"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setChosen(0);
        }}
        onKeyDown={onKey}
      />
      {commands.length === 0 && <p className="soft">Nothing has this name.</p>}
      <div id={id} role="listbox" aria-label="Places" className="commands">
        {commands.map((command, place) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
          <div
            key={`${command.kind} ${command.id ?? command.name}`}
            id={`${id}-${place}`}
            role="option"
            aria-selected={place === chosen}
            onClick={() => run(command)}
          >
            <span className="soft small">{command.kind}</span>
            <bdi className="cut">{command.name}</bdi>
            <span className="soft small cut">{command.more}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

function useCommands(pages: PaletteProps['pages'], text: string): readonly Command[] {
  const { client } = useWorkbench();
  const navigate = useNavigate();
  const corpora = useCorpora().data?.items ?? [];
  const { data } = useQuery({
    queryKey: ['palette', 'jobs'],
    queryFn: ({ signal }) => client().ask('GET /jobs', { query: { limit: jobsRead }, signal }),
  });
  const ofPages = pages.map(({ to, name }): Command => {
    return { kind: 'Page', name, run: () => void navigate({ to }) };
  });
  const ofCorpora = corpora.map(({ name, documents }): Command => {
    const run = () => void navigate({ to: '/corpora/$name', params: { name } });
    return { kind: 'Corpus', name, more: counted(documents, 'document'), run };
  });
  const ofJobs = (data?.items ?? []).map((job): Command => {
    const run = () => void navigate({ to: '/jobs/$id', params: { id: job.job_id } });
    const { job_id: id, corpus_name } = job;
    return {
      kind: 'Job',
      name: nameOf(job),
      more: `${corpus_name} · ${badgeOf(job).state}`,
      id,
      run,
    };
  });
  const places = [...ofPages, ...ofCorpora, ...ofJobs];
  if (text === '') return places;
  const search: Command = {
    kind: 'Search',
    name: text,
    run: () => void navigate({ to: '/search', search: { q: text } }),
  };
  return [...bestFirst(places, text.toLowerCase()), search];
}

/** What begins with the text, before what contains it. */
function bestFirst(places: readonly Command[], text: string): readonly Command[] {
  const begins = places.filter(({ name }) => name.toLowerCase().startsWith(text));
  const contains = places.filter(({ name, more = '', id = '' }) =>
    `${name} ${more} ${id}`.toLowerCase().includes(text),
  );
  return [...new Set([...begins, ...contains])].slice(0, shownMax - 1);
}

function nameOf(job: Job): string {
  return job.url === null ? counted(job.items_total, 'document') : shortSource(job.url);
}
