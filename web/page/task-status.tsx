/** The state and the cost of a batch task. */
import type { Task, TaskState } from '../live/task-list.ts';
import { Badge, type Tone } from '../part/basic.tsx';
import { money, words } from '../part/wording.ts';

const tones: Readonly<Record<TaskState, Tone>> = {
  pending: 'plain',
  in_progress: 'run',
  completed: 'ok',
  partial_complete: 'warn',
  failed: 'bad',
  canceled: 'plain',
};

export function TaskBadge({ state }: { state: TaskState }) {
  return <Badge tone={tones[state]}>{words(state)}</Badge>;
}

/** The live price is shown beside the batch price. */
export function costText({ cost }: Pick<Task, 'cost'>): string {
  if (cost === null) return '–';
  return `${money(cost.cents)} instead of ${money(cost.at_once_cents)}`;
}

export const taskName = ({ task_type, provider }: Task): string =>
  provider === null ? words(task_type) : `${words(task_type)} · ${provider}`;
