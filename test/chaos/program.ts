/** Messages of a chaos program to its parent, over the IPC channel. */
export type Message =
  | { readonly kind: 'ready'; readonly worker?: string; readonly at: number }
  | { readonly kind: 'passed'; readonly name: string }
  | { readonly kind: 'finished' }
  | { readonly kind: 'error'; readonly what: string };

/** If the parent has died, this process ends, too. */
export function report(message: Message): void {
  if (!process.connected) process.exit(1);
  process.send?.(message);
}

process.once('disconnect', () => process.exit(1));
