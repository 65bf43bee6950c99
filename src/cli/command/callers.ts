/** `pawl callers`: owners of corpora and jobs, and their keys. */

import { Failure } from '../../kernel/failure/failure.ts';
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
import { allOf, type PawlClient } from '../pawl-client.ts';
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
    corpus: {
      type: 'string',
      short: 'c',
      value: 'NAME',
      meaning: 'move only this corpus and its jobs',
    },
    ...consentOption,
  },
  examples: [
    'pawl callers link 01f9350b55022160 sha256:$(printf %s "$NEW_KEY" | sha256sum | cut -c1-64)',
  ],
  run: chooseAction('callers', {
    list,
    show: (call, args) =>
      withStore(call, ({ ask }) => show(call, ask, onlyArgument(args, 'caller'))),
    link: (call, args) => change(call, args, 'link'),
    unlink: (call, args) => change(call, args, 'unlink'),
    move,
  }),
};

async function list(call: Call): Promise<number> {
  const items = await withStore(call, ({ ask }) =>
    allOf((query) => ask('GET /callers', { query })),
  );
  return answer(call, { items, next_cursor: null }, () =>
    printTable(
      call.terminal,
      ['CALLER', 'NAME', '>KEYS', '>JOBS', 'SINCE'],
      items.map(({ caller_id, name, keys, jobs, created_at: time }) => [
        ...[caller_id, name ?? '', number(keys), number(jobs)],
        Date.parse(time) === 0 ? '' : ago(time),
      ]),
    ),
  );
}

async function show(call: Call, ask: PawlClient['ask'], id: string): Promise<number> {
  const caller = await ask('GET /callers/:id', { params: { id } });
  const { caller_id, name, identities, corpora } = caller;
  return answer(call, caller, () =>
    printPairs(call.terminal, [
      ['caller', caller_id],
      ...(name === null ? [] : [['name', name] as const]),
      ...identities
        .filter(({ kind, subject }) => kind !== 'name' || subject !== name)
        .map(({ kind, subject }) => [kind, subject] as const),
      ['corpora', corpora.join(', ') || 'none'],
    ]),
  );
}

const routes = {
  link: 'PUT /callers/:id/keys/:hash',
  unlink: 'DELETE /callers/:id/keys/:hash',
} as const;

function change(call: Call, args: readonly string[], what: keyof typeof routes): Promise<number> {
  const [id, hash, ...others] = args;
  if (id === undefined || hash === undefined || others.length > 0) {
    throw usageError(`pawl callers ${what} takes a caller and the hash of a key`);
  }
  return withStore(call, async ({ ask }) => {
    const params = { id, hash };
    try {
      const query = call.flags.yes === true ? confirmed : {};
      await ask(routes[what], { params, query });
    } catch (error) {
      const isAsked = error instanceof Failure && error.code === 'action_not_allowed';
      if (!isAsked || call.flags.yes === true) throw error;
      if (!(await hasConsent(call, `${error.message}.`))) return exits.error;
      await ask(routes[what], { params, query: confirmed });
    }
    return show(call, ask, id);
  });
}

const confirmed = { confirm: 'true' } as const;

function move(call: Call, args: readonly string[]): Promise<number> {
  const [from, to, ...others] = args;
  if (from === undefined || to === undefined || others.length > 0) {
    throw usageError('pawl callers move takes two callers: FROM and TO');
  }
  const corpus = textOf(call.flags, 'corpus');
  return withStore(call, async ({ ask }) => {
    const what = corpus === undefined ? 'everything' : `the corpus ${corpus}`;
    if (!(await hasConsent(call, `Move ${what} of ${from} to ${to}?`))) return exits.error;
    const moved = await ask('POST /callers/:id/move', {
      params: { id: from },
      body: { to, corpus_name: corpus },
    });
    const corpora = count(moved.corpora, 'corpus', 'corpora');
    const sentence = `moved ${corpora} from ${moved.from} to ${moved.to}`;
    return answer(call, moved, sentence);
  });
}
