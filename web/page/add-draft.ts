/** What is being added, before it is sent: the state of the form, and the plan that it makes. */
import { useSearch } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { useWorkbench } from '../workbench.ts';
import { type CrawlPlan, crawlProblem, noCrawl } from './add-crawl.tsx';
import type { Extent, Following } from './add-sync.tsx';
import type { ChosenFile } from './chosen-file.ts';
import { useChosenCorpus } from './corpus-picker.tsx';
import { useKnown } from './known-address.ts';
import { fileOfText, type Reading, readPasted, titleOf } from './pasted.ts';
import { type Checked, checkFiles, corpusProblem, type Lane } from './preflight.ts';
import { useSameContent } from './same-content.ts';
import type { Follow, Plan } from './submission.ts';

const kept = 'pawl.draft';

interface Form {
  readonly text: string;
  /** Undefined: what the text looks like. */
  readonly chosenReading: Reading | undefined;
  readonly chosenTitle: string | undefined;
  readonly files: readonly ChosenFile[];
  /** Paths that the browser could not read. */
  readonly unreadable: readonly string[];
  readonly extent: Extent;
  readonly crawl: CrawlPlan;
  readonly following: Following;
  readonly lane: Lane;
}

const nothing = {
  chosenReading: undefined,
  chosenTitle: undefined,
  files: [],
  unreadable: [],
  extent: 'page',
  crawl: noCrawl,
  following: { isOn: false, schedule: '1d' },
} as const;

export interface Planned {
  readonly plan?: Plan | undefined;
  /** Why it cannot be sent yet. */
  readonly problem?: string | undefined;
}

export type Draft = ReturnType<typeof useDraft>;

export function useDraft() {
  const { names, corpus, setCorpus } = useChosenCorpus(useSearch({ from: '/add' }).corpus);
  const { form, change, clear } = useForm();
  const { text, files, lane } = form;
  const { reading, checked: addresses } = useMemo(
    () => readPasted(text, form.chosenReading),
    [text, form.chosenReading],
  );
  const title = form.chosenTitle ?? titleOf(text);
  const same = useSameContent(files);
  const checkedFiles = useMemo(() => checkFiles(files, lane, same), [files, lane, same]);
  const known = useKnown(useDeferredValue(readyNames(addresses)), corpus);
  const unreadable = form.unreadable.map(unreadableFile);
  const urls = readyNames(addresses);
  const sent = files.filter((_, index) => checkedFiles[index]?.verdict === 'ready');
  const texts: ChosenFile[] =
    reading === 'text' ? [fileOfText(text, title)].map((file) => ({ path: file.name, file })) : [];
  const chosen = [...addresses, ...checkedFiles, ...unreadable];
  const planned = planOf({ ...form, corpus, urls, files: [...texts, ...sent] }, chosen.length);
  /** Removes a row of the check: an address, a file, or one that cannot be read. */
  const remove = (index: number): void => {
    const file = index - addresses.length;
    if (file < 0) change({ text: withoutAddress(text, index) });
    else if (file < files.length) change({ files: files.filter((_, place) => place !== file) });
    else
      change({ unreadable: form.unreadable.filter((_, place) => place !== file - files.length) });
  };
  return {
    ...form,
    ...planned,
    ...{ names, corpus, setCorpus, reading, title, urls, known, change, remove },
    checked: chosen,
    folders: foldersOf(files),
    addFiles: (added: readonly ChosenFile[]) => change({ files: [...files, ...added] }),
    /** Only sent sources are removed from the form. */
    clear: (refused: readonly string[] = []) => {
      clear();
      if (refused.length > 0) change({ text: refused.join('\n') });
      setCorpus(corpus);
    },
  };
}

function useForm() {
  const { url } = useSearch({ from: '/add' });
  const { dropped } = useWorkbench();
  const [form, setForm] = useState<Form>(() => ({
    ...nothing,
    text: url ?? sessionStorage.getItem(kept) ?? '',
    lane: 'now',
  }));
  const change = (part: Partial<Form>): void => {
    if (part.text !== undefined) sessionStorage.setItem(kept, part.text);
    setForm((now) => ({ ...now, ...part }));
  };
  useEffect(() => {
    const take = (): void => {
      const { files = [], unreadable = [] } = dropped.take() ?? {};
      if (files.length + unreadable.length === 0) return;
      setForm((now) => ({
        ...now,
        files: [...now.files, ...files],
        unreadable: [...now.unreadable, ...unreadable],
      }));
    };
    take();
    return dropped.listen(take);
  }, [dropped]);
  const clear = (): void => change({ ...nothing, text: '' });
  return { form, change, clear };
}

const readyNames = (checked: readonly Checked[]): string[] =>
  checked.filter(({ verdict }) => verdict === 'ready').map(({ name }) => name);

const unreadableFile = (name: string): Checked => ({
  name,
  verdict: 'refused',
  group: 'unreadable',
  note: 'the browser cannot read it',
});

/** The lines are those that were checked: all but empty ones. */
function withoutAddress(text: string, index: number): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.filter((_, place) => place !== index).join('\n');
}

/** The top folders of chosen folders. */
function foldersOf(files: readonly ChosenFile[]): string[] {
  const tops = files.filter(({ path }) => path.includes('/')).map(({ path }) => path.split('/')[0]);
  return [...new Set(tops)].filter((top) => top !== undefined);
}

interface Chosen extends Form {
  readonly corpus: string;
  readonly urls: readonly string[];
}

/** The sources that would be sent: only valid ones. */
function planOf(chosen: Chosen, checked: number): Planned {
  const { corpus, lane, urls, files, extent, crawl, following } = chosen;
  const problem = corpusProblem(corpus);
  if (problem !== undefined) return { problem };
  if (urls.length + files.length === 0) {
    return { problem: checked === 0 ? 'Nothing is chosen yet.' : 'None of these can be sent.' };
  }
  const isFollowed = following.isOn && urls.length > 0;
  const isSite = urls.length === 1 && extent === 'site';
  const wrong = isSite ? crawlProblem(crawl) : undefined;
  if (wrong !== undefined) return { problem: wrong };
  const kind: Follow['kind'] = urls.length === 1 && extent !== 'page' ? extent : 'urls';
  const follow = isFollowed ? { kind, schedule: following.schedule } : undefined;
  return { plan: { corpus, lane, urls, files, crawl: isSite ? crawl : undefined, follow } };
}
