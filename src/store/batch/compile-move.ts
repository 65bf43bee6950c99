/**
 * Compiles a row of a table whose state is one column: the `SET` and the `WHERE` of its
 * compare-and-set.
 */
import { sqlList } from '../../kernel/lifecycle/machine.ts';
import type { StateMove } from '../../kernel/lifecycle/state-move.ts';
import type { CompiledMove } from '../item/compile-move.ts';

export function compileStateMove({ by, from, to, epoch }: StateMove): CompiledMove {
  return {
    set: `state = ${sqlList([to])}${epoch === 'raise' ? ', epoch = epoch + 1' : ''}`,
    where: `state IN (${sqlList(from)})${by === 'holder' ? ' AND epoch = :epoch' : ''}`,
  };
}
