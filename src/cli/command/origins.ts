/** `pawl corpora origins`: the services that receive text of a corpus, and accepting a change. */
import type { AnswerOf } from '../../contract/contract.ts';
import type { Corpus } from '../../contract/schema/schema.ts';
import { isSameHost } from '../../kernel/name/origin.ts';
import { answer, type Call, exits, type Option } from '../command.ts';
import { hasConsent } from '../consent.ts';
import type { PawlClient } from '../pawl-client.ts';
import { printTable } from '../view/table.ts';

export const originOptions: Readonly<Record<'accept', Option>> = {
  accept: {
    type: 'boolean',
    meaning: 'allow text of the corpus to be sent to the configured services',
  },
};

export async function showOrigins(
  call: Call,
  { name }: Corpus,
  { ask }: PawlClient,
): Promise<number> {
  const origins = await ask('GET /corpora/:name/origins', { params: { name } });
  if (call.flags.accept !== true) return print(call, origins);
  const changed = rowsOf(origins).filter(({ isChanged }) => isChanged);
  const targets = changed.map(({ use, configured }) => `${use} to ${configured}`).join(', ');
  const question = `Send text and queries of ${name} (${targets})?`;
  if (changed.length > 0 && !(await hasConsent(call, question))) return exits.error;
  return print(call, await ask('POST /corpora/:name/origins', { params: { name } }));
}

type CorpusOrigins = AnswerOf<'GET /corpora/:name/origins'>;

function print(call: Call, origins: CorpusOrigins): number {
  const rows = rowsOf(origins);
  const none = rows.length === 0 && `text of ${origins.name} stays on this machine`;
  const told = (): void =>
    printTable(
      call.terminal,
      ['USE', 'RECORDED', 'CONFIGURED'],
      rows.map(({ use, recorded, configured }) => [use, recorded ?? '', configured ?? '']),
    );
  return answer(call, origins, none || told);
}

function rowsOf({ recorded, configured }: CorpusOrigins) {
  const urlIn = (list: CorpusOrigins['recorded'], use: string): string | undefined =>
    list.find((row) => row.use === use)?.url;
  const uses = new Set([...recorded, ...configured].map(({ use }) => use));
  return [...uses].map((use) => {
    const [old, now] = [urlIn(recorded, use), urlIn(configured, use)];
    const isChanged = now !== undefined && (old === undefined || !isSameHost(old, now));
    return { use, recorded: old, configured: now, isChanged };
  });
}
