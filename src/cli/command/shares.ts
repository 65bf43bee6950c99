/** `pawl corpora share` and `unshare`: read and write access to a corpus for other callers. */
import { Failure } from '../../kernel/failure/failure.ts';
import type { ShareRow } from '../../store/corpus/access.ts';
import { answer, type Call, usageError, withStore } from '../command.ts';
import type { PawlClient } from '../pawl-client.ts';

export function share(call: Call, args: readonly string[]): Promise<number> {
  const { name, guest } = named(args);
  const access = call.flags.write === true ? 'write' : 'read';
  return withStore(call, async (pawl) => {
    await pawl.share(name, guest, access);
    const may = access === 'write' ? 'may read and write' : 'may read';
    const told = { name, caller_id: guest, access };
    return answer(call, told, `${guest} ${may} ${name}`);
  });
}

export function unshare(call: Call, args: readonly string[]): Promise<number> {
  const { name, guest } = named(args);
  return withStore(call, async (pawl) => {
    const removed = await pawl.unshare(name, guest);
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

/** Shares are shown to the owner only. */
export async function sharesOf(pawl: PawlClient, name: string): Promise<ShareRow[]> {
  try {
    return await pawl.shares(name);
  } catch (error) {
    if (error instanceof Failure && error.code === 'forbidden') return [];
    throw error;
  }
}

export function shareShape({ caller, name, access }: ShareRow) {
  return { caller_id: caller, name, access };
}

export function sharePairs(shares: readonly ShareRow[]): (readonly [string, string])[] {
  return shares.map(({ caller, name, access }) => [
    'shared with',
    `${name ?? caller} (${access === 'write' ? 'reads and writes' : 'reads'})`,
  ]);
}
