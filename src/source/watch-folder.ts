/** Tells when something below a folder has changed: by events, or by polling without them. */
import { watch } from 'node:fs';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import { type TreeOptions, type TreeWatcher, watchTree } from './watch-tree.ts';

export interface WatchOptions {
  readonly world: Pick<World, 'setTimer'>;
  /** Something may have changed. */
  readonly onChange: () => void;
  /** The system gives no events, or no more: the folder is polled from now on. */
  readonly onPolling: (reason: string) => void;
  /** Opens the watcher; the one of the system if absent. */
  readonly open?: ((folder: string, options: TreeOptions) => TreeWatcher) | undefined;
}

/** Returns the function that ends it. */
export function watchFolder(folder: string, options: WatchOptions): () => void {
  const { world, onChange, onPolling, open = openWatcher } = options;
  let watcher: TreeWatcher | undefined;
  let cancel: (() => void) | undefined;
  let isEnded = false;
  const poll = (): void => {
    cancel = world.setTimer(() => {
      onChange();
      poll();
    }, limits.sync.watchPollMs);
  };
  const fallBack = (error: unknown): void => {
    watcher?.close();
    watcher = undefined;
    if (isEnded || cancel) return;
    onPolling((error as NodeJS.ErrnoException).code ?? String(error));
    poll();
  };
  try {
    watcher = open(folder, { onChange, onError: fallBack });
  } catch (error) {
    fallBack(error);
  }
  return () => {
    isEnded = true;
    watcher?.close();
    cancel?.();
  };
}

function openWatcher(folder: string, options: TreeOptions): TreeWatcher {
  if (process.platform === 'linux') return watchTree(folder, options);
  const watcher = watch(folder, { recursive: true });
  watcher.on('change', options.onChange);
  watcher.on('error', options.onError);
  return watcher;
}
