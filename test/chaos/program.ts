/** What a program of the chaos tests tells the one that started it, over the channel between. */
export type Message =
  | { readonly kind: 'ready'; readonly worker?: string; readonly at: number }
  | { readonly kind: 'passed'; readonly name: string }
  | { readonly kind: 'finished' }
  | { readonly kind: 'error'; readonly what: string };

/** Nobody is left to tell when the parent has died: then this process ends, too. */
export function report(message: Message): void {
  if (!process.connected) process.exit(1);
  process.send?.(message);
}

process.once('disconnect', () => process.exit(1));
