/**
 * A queue wakes a consumer in another process. It carries ids, never state: the consumer asks the
 * orchestrator what to do, so a queue that is flushed or delivers twice loses nothing and repeats
 * nothing. Only work without a stored record travels with its request.
 */

export interface Message {
  /** A message that is added twice before it is done is one message. */
  readonly id: string;
  /** The kind of work, by the name that its consumer knows. */
  readonly kind: string;
  /** The job to report to at the end; without one, nothing is reported. */
  readonly jobId?: string | undefined;
  /** The whole request, if no orchestrator stores it. */
  readonly request?: Readonly<Record<string, unknown>> | undefined;
}

export interface Delivery {
  readonly message: Message;
  /** 1 at the first delivery. A consumer crash counts as a try; a wait does not. */
  readonly attempt: number;
  /**
   * Aborts with a failure as its reason: `timeout_soft` after the soft time limit, `lease_lost`
   * when another consumer has the message, `canceled` when the consumer is stopped.
   */
  readonly signal: AbortSignal;
}

/** The result of a delivery: done, or to be delivered again, not before the given time. */
export type Settled =
  | { readonly do: 'finish' }
  | { readonly do: 'again'; readonly afterMs: number };

export interface ConsumeOptions {
  /** Concurrent deliveries. A message is taken only when there is a free slot. */
  readonly places: number;
  /**
   * The message is acknowledged after this has settled. A throw is a defect of the consumer: the
   * message is delivered again, with a growing delay. An error of a stopped consumer is not: its
   * message is delivered again at once.
   */
  readonly run: (delivery: Delivery) => Promise<Settled>;
  readonly onError: (what: string, error: unknown) => void;
}

export interface Consumer {
  /**
   * Takes no more messages, aborts running ones after `graceMs`, and resolves when nothing runs.
   */
  stop(graceMs: number): Promise<void>;
}

export interface QueueTimes {
  /** When a run is asked to end. */
  readonly softMs: number;
  /** When a run that has not ended loses its message and frees its slot. */
  readonly visibilityMs: number;
  /** When a message of a dead process becomes free. */
  readonly lockMs: number;
  readonly renewMs: number;
  /** How often messages of dead processes are searched for. */
  readonly stalledMs: number;
  /** After a throw: the first delay at most, and the longest. */
  readonly retryMs: number;
  readonly retryMsMax: number;
  /** How long a stopped consumer waits for runs that ignore their signal. */
  readonly abandonMs: number;
}

export interface Queue {
  readonly name: string;
  add(messages: readonly Message[]): Promise<void>;
  /** Removes messages that nobody needs any more. A message that is being processed stays. */
  remove(ids: readonly string[]): Promise<void>;
  consume(options: ConsumeOptions): Promise<Consumer>;
  /** Waiting messages, and messages that are being processed. */
  depth(): Promise<{ readonly waiting: number; readonly active: number }>;
  /**
   * True if the content may be lost: the caller adds all open messages, then calls `endFill`. If it
   * dies before that, or the queue is emptied again meanwhile, the next caller gets true.
   */
  beginFill(): Promise<boolean>;
  endFill(): Promise<void>;
  close(): Promise<void>;
}
