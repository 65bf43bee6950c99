/** `pawl callers`: owners of corpora and jobs, and their keys. */
import type { CallerClient, ListedCaller } from '../../access/caller-client.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { chooseAction, onlyArgument } from '../action.ts';
import {
  answer,
  type Call,
  type Command,
  exits,
  textOf,
  usageError,
  withStore,
} from '../command.ts';
import { consentOption, hasConsent } from '../consent.ts';
import { printPairs, printTable } from '../view/table.ts';
import { ago, count, number } from '../view/wording.ts';

export const callers: Command = {
  name: 'callers',
  summary: 'owners of corpora and jobs, and their keys: list, show, link, unlink, move',
  usage: [
    'callers [list]',
    'callers show ID',
    'callers link ID KEYHASH [--yes]',
    'callers unlink ID KEYHASH [--yes]',
    'callers move FROM TO [--corpus NAME] [--yes]',
  ],
  options: {
    corpus: { type: 'string', value: 'NAME', meaning: 'move only this corpus and its jobs' },
    ...consentOption,
  },
  examples: [
    'pawl callers link 01f9350b55022160 sha256:$(printf %s "$NEW_KEY" | sha256sum | cut -c1-64)',
  ],
  run: chooseAction('callers', {
    list,
    show: (call, args) => withStore(call, (pawl) => show(call, pawl.callers, only(args))),
    link: (call, args) => change(call, args, 'link'),
    unlink: (call, args) => change(call, args, 'unlink'),
    move,
  }),
};

const only = (args: readonly string[]): string => onlyArgument(args, 'caller');

async function list(call: Call): Promise<number> {
  const rows = await withStore(call, (pawl) => listAll(pawl.callers));
  const shape = ({ id, created_at, ...row }: ListedCaller) => ({
    caller_id: id,
    ...row,
    created_at: new Date(created_at).toISOString(),
  });
  return answer(call, { items: rows.map(shape), next_cursor: null }, () =>
    printTable(
      call.terminal,
      ['CALLER', 'NAME', '>KEYS', '>JOBS', 'SINCE'],
      rows.map(({ id, name, keys, jobs, created_at: at }) => [
        ...[id, name ?? '', number(keys), number(jobs)],
        at === 0 ? '' : ago(at, Date.now()),
      ]),
    ),
  );
}

async function listAll(client: CallerClient): Promise<ListedCaller[]> {
  const rows: ListedCaller[] = [];
  const limit = limits.request.pageItemsMax;
  for (let isFull = true; isFull; ) {
    const page = await client.list({ after: rows.at(-1)?.id ?? '', limit });
    rows.push(...page);
    isFull = page.length === limit;
  }
  return rows;
}

async function show(call: Call, client: CallerClient, id: string): Promise<number> {
  const { identities, corpora, name, ...row } = await client.show(id);
  const led = identities.map(({ kind, subject }) => ({ kind, subject }));
  return answer(call, { caller_id: row.id, name, identities: led, corpora }, () =>
    printPairs(call.terminal, [
      ['caller', row.id],
      ...(name === null ? [] : [['name', name] as const]),
      ...identities.map(({ kind, subject }) => [kind, subject] as const),
      ['corpora', corpora.join(', ') || 'none'],
    ]),
  );
}

function change(call: Call, args: readonly string[], what: 'link' | 'unlink'): Promise<number> {
  const [id, hash, ...others] = args;
  if (id === undefined || hash === undefined || others.length > 0) {
    throw usageError(`pawl callers ${what} takes a caller and the hash of a key`);
  }
  return withStore(call, async ({ callers: client }) => {
    try {
      await client[what](id, hash, { isConfirmed: call.flags.yes === true });
    } catch (error) {
      const isAsked = error instanceof Failure && error.code === 'action_not_allowed';
      if (!isAsked || call.flags.yes === true) throw error;
      if (!(await hasConsent(call, `${error.message}.`))) return exits.error;
      await client[what](id, hash, { isConfirmed: true });
    }
    return show(call, client, id);
  });
}

function move(call: Call, args: readonly string[]): Promise<number> {
  const [from, to, ...others] = args;
  if (from === undefined || to === undefined || others.length > 0) {
    throw usageError('pawl callers move takes two callers: FROM and TO');
  }
  const corpus = textOf(call.flags, 'corpus');
  return withStore(call, async ({ callers: client }) => {
    const what = corpus === undefined ? 'everything' : `the corpus ${corpus}`;
    if (!(await hasConsent(call, `Move ${what} of ${from} to ${to}?`))) return exits.error;
    const moved = await client.move(from, to, { corpus });
    const corpora = count(moved.corpora, 'corpus', 'corpora');
    const sentence = `moved ${corpora} from ${moved.from} to ${moved.to}`;
    return answer(call, moved, sentence);
  });
}
