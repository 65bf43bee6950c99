/**
 * Virtual time. One queue holds everything that is going to happen: timers, ends of turns,
 * responses on their way. One task runs, then everything that it made ready; then the next in time,
 * in random order within the same moment. If nothing is ready, time jumps.
 */
import type { Random } from './random.ts';

/** The owner of a task: tasks of dead owners never run, and those of stalled ones run later. */
export interface Owner {
  readonly isDead: boolean;
  readonly stalledUntil: number;
}

interface Task {
  at: number;
  readonly order: number;
  readonly owner: Owner;
  readonly run: () => void;
  isCanceled: boolean;
}

/** The simulation itself: never dead, never late. */
export const nobody: Owner = { isDead: false, stalledUntil: 0 };

export class Schedule {
  readonly #random: Random;
  readonly #heap: Task[] = [];
  now: number;
  turns = 0;

  constructor(random: Random, startAt: number) {
    this.#random = random;
    this.now = startAt;
  }

  push(owner: Owner, delayMs: number, run: () => void): () => void {
    const at = this.now + Math.max(0, delayMs);
    const task: Task = { at, order: this.#random.bits(), owner, run, isCanceled: false };
    this.#insert(task);
    return () => {
      task.isCanceled = true;
    };
  }

  /** Runs task after task until `isOver` returns true, or nothing is left. */
  run(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        try {
          const task = isOver() ? undefined : this.#next();
          task?.run();
          this.turns++;
          // An immediate runs after every promise that this task has settled.
          if (task) setImmediate(turn);
          else resolve();
        } catch (error) {
          reject(error);
        }
      };
      setImmediate(turn);
    });
  }

  #next(): Task | undefined {
    for (let task = this.#pop(); task; task = this.#pop()) {
      if (task.isCanceled || task.owner.isDead) continue;
      this.now = Math.max(this.now, task.at);
      if (task.owner.stalledUntil <= this.now) return task;
      task.at = task.owner.stalledUntil;
      this.#insert(task);
    }
    return undefined;
  }

  #insert(task: Task): void {
    const heap = this.#heap;
    let place = heap.push(task) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isBefore(task, heap[above] as Task)) break;
      heap[place] = heap[above] as Task;
      place = above;
    }
    heap[place] = task;
  }

  #pop(): Task | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= heap.length) break;
      const right = heap[below + 1];
      if (right && isBefore(right, heap[below] as Task)) below++;
      if (!isBefore(heap[below] as Task, last)) break;
      heap[place] = heap[below] as Task;
      place = below;
    }
    heap[place] = last;
    return first;
  }
}

function isBefore(a: Task, b: Task): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
