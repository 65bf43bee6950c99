/** `pawl corpora share` and `unshare`: read and write access to a corpus for other callers. */
import type { Share } from '../../contract/schema/schema.ts';
import { answer, type Call, usageError, withStore } from '../command.ts';

export function share(call: Call, args: readonly string[]): Promise<number> {
  const { name, guest } = named(args);
  const access = call.flags.write === true ? 'write' : 'read';
  return withStore(call, async ({ ask }) => {
    const asking = { params: { name, caller: guest }, body: { access } } as const;
    await ask('PUT /corpora/:name/shares/:caller', asking);
    const may = access === 'write' ? 'may read and write' : 'may read';
    const told = { name, caller_id: guest, access };
    return answer(call, told, `${guest} ${may} ${name}`);
  });
}

export function unshare(call: Call, args: readonly string[]): Promise<number> {
  const { name, guest } = named(args);
  return withStore(call, async ({ ask }) => {
    const params = { name, caller: guest };
    const { removed } = await ask('DELETE /corpora/:name/shares/:caller', { params });
    const sentence = removed
      ? `${name} is no longer shared with ${guest}`
      : `${name} was not shared with ${guest}`;
    const told = { name, caller_id: guest, removed };
    return answer(call, told, sentence);
  });
}

function named(args: readonly string[]): { readonly name: string; readonly guest: string } {
  const [name, guest, ...others] = args;
  if (name !== undefined && guest !== undefined && others.length === 0) return { name, guest };
  throw usageError('name a corpus, and the caller to share it with');
}

export function sharePairs(shares: readonly Share[]): (readonly [string, string])[] {
  return shares.map(({ caller_id, name, access }) => [
    'shared with',
    `${name ?? caller_id} (${access === 'write' ? 'reads and writes' : 'reads'})`,
  ]);
}
