/**
 * Compiles a row of a table whose state is one column: the `SET` and the `WHERE` of its
 * compare-and-set.
 */
import type { BatchTaskMove } from '../../kernel/lifecycle/batch-task.ts';
import { sqlList } from '../../kernel/lifecycle/machine.ts';
import type { CompiledMove } from '../item/compile-move.ts';

export function compileStateMove({ by, from, to, epoch }: BatchTaskMove): CompiledMove {
  return {
    set: `state = ${sqlList([to])}${epoch === 'raise' ? ', epoch = epoch + 1' : ''}`,
    where: `state IN (${sqlList(from)})${by === 'holder' ? ' AND epoch = :epoch' : ''}`,
  };
}
