/** `pawl corpora share` and `unshare`: read and write access to a corpus for other callers. */
import type { Share } from '../../contract/schema/schema.ts';
import { answer, type Call, usageError, withStore } from '../command.ts';

export function share(call: Call, args: readonly string[]): Promise<number> {
  const { name, guest } = named(args);
  const access = call.flags.write === true ? 'write' : 'read';
  return withStore(call, async ({ ask }) => {
    const asking = { params: { name, caller: guest }, body: { access } } as const;
    const shared = await ask('PUT /corpora/:name/shares/:caller', asking);
    const may = access === 'write' ? 'may read and write' : 'may read';
    return answer(call, shared, `${guest} ${may} ${name}`);
  });
}

export function unshare(call: Call, args: readonly string[]): Promise<number> {
  const { name, guest } = named(args);
  return withStore(call, async ({ ask }) => {
    const params = { name, caller: guest };
    const unshared = await ask('DELETE /corpora/:name/shares/:caller', { params });
    const sentence = unshared.removed
      ? `${name} is no longer shared with ${guest}`
      : `${name} was not shared with ${guest}`;
    return answer(call, unshared, sentence);
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
