/**
 * A queue wakes a consumer in another process. It carries ids, never state: what is to be done is
 * asked of the orchestrator, so that a queue that is flushed, or that delivers twice, loses nothing
 * and does nothing twice. Only work that nobody keeps a record of travels with its request.
 */

export interface Message {
  /** A message that is added twice, before it is done, is one message. */
  readonly id: string;
  /** What is to be done, by the name that its consumer knows. */
  readonly kind: string;
  /** The job that hears of the end; without one, nobody does. */
  readonly jobId?: string | undefined;
  /** The whole request, where no orchestrator keeps it. */
  readonly request?: Readonly<Record<string, unknown>> | undefined;
}

export interface Delivery {
  readonly message: Message;
  /** 1 at the first delivery; what its consumer died of counts, what it waited for does not. */
  readonly attempt: number;
  /**
   * Aborts, with a failure as its reason: `timeout_soft` when the soft time limit is over,
   * `lease_lost` when the message was given to another, `canceled` when the consumer is stopped.
   */
  readonly signal: AbortSignal;
}

/** What becomes of a delivery: it is done with, or it comes again, no sooner than that. */
export type Settled =
  | { readonly do: 'finish' }
  | { readonly do: 'again'; readonly afterMs: number };

export interface ConsumeOptions {
  /** Deliveries at once; no more are taken than there are places for. */
  readonly places: number;
  /**
   * The message is acknowledged after this has settled. A throw is a consumer's own mistake: the
   * message comes again, later each time. What a stopped consumer throws is not: it comes at once.
   */
  readonly run: (delivery: Delivery) => Promise<Settled>;
  readonly onError: (what: string, error: unknown) => void;
}

export interface Consumer {
  /** Takes no more, aborts what runs after `graceMs`, and resolves when nothing runs. */
  stop(graceMs: number): Promise<void>;
}

/** How long things may take. */
export interface QueueTimes {
  /** A run is asked to end. */
  readonly softMs: number;
  /** A run that has not ended loses its message, and its place is free. */
  readonly visibilityMs: number;
  /** A message of a process that is dead is free after this time. */
  readonly lockMs: number;
  readonly renewMs: number;
  /** How often messages of the dead are looked for. */
  readonly stalledMs: number;
  /** After a throw: the first wait at most, and the longest. */
  readonly retryMs: number;
  readonly retryMsMax: number;
  /** A consumer that is stopped waits so long for runs that do not heed it. */
  readonly abandonMs: number;
}

export interface Queue {
  readonly name: string;
  add(messages: readonly Message[]): Promise<void>;
  /** Messages that nobody needs any more; one that is being worked on is left alone. */
  remove(ids: readonly string[]): Promise<void>;
  consume(options: ConsumeOptions): Promise<Consumer>;
  /** Messages that wait, and that are being worked on. */
  depth(): Promise<{ readonly waiting: number; readonly active: number }>;
  /**
   * True where what was in it may be lost, to one who asks: that one adds all that is open, and
   * then says so. If it dies before, or the queue is emptied again meanwhile, the next is asked to.
   */
  beginFill(): Promise<boolean>;
  endFill(): Promise<void>;
  close(): Promise<void>;
}
