/**
 * Paid calls in flight, with limited concurrency. A caller that requests what is already in flight
 * waits for the same response; the first caller that still waits when it is sent pays. A call
 * without waiting callers is not sent. A sent call is paid for, so its response is stored all the
 * same.
 */
import { Failure } from '../kernel/failure/failure.ts';

export interface Asking<T> {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly send: () => Promise<T>;
  /** Called for the caller that pays. The response is returned only when this resolves. */
  readonly keep?: ((answer: T) => Promise<void>) | undefined;
}

interface Call<T> {
  readonly waiting: Set<Asking<T>>;
  /** Undefined until it is sent. */
  payer?: Asking<T>;
}

interface Begun<T> {
  readonly call: Call<T>;
  readonly answer: Promise<T>;
}

export class InFlight<T> {
  readonly #concurrencyMax: number;
  readonly #calls = new Map<string, Begun<T>>();
  readonly #line: (() => void)[] = [];
  #sent = 0;

  constructor(concurrencyMax: number) {
    this.#concurrencyMax = concurrencyMax;
  }

  async ask(asking: Asking<T>): Promise<{ readonly answer: T; readonly isPayer: boolean }> {
    const { key, signal } = asking;
    signal.throwIfAborted();
    const { call, answer } = this.#calls.get(key) ?? this.#begin(key, asking);
    call.waiting.add(asking);
    try {
      return { answer: await whileWanted(answer, signal), isPayer: call.payer === asking };
    } finally {
      call.waiting.delete(asking);
    }
  }

  /** Resolves when nothing is in flight. */
  async idle(): Promise<void> {
    while (this.#calls.size > 0) {
      await Promise.allSettled([...this.#calls.values()].map(({ answer }) => answer));
    }
  }

  #begin(key: string, asking: Asking<T>): Begun<T> {
    const call: Call<T> = { waiting: new Set([asking]) };
    const answer = this.#turn().then(() => this.#send(key, call));
    // Waiting callers get the failure; without any, it is dropped.
    answer.catch(() => undefined);
    const begun = { call, answer };
    this.#calls.set(key, begun);
    return begun;
  }

  async #turn(): Promise<void> {
    if (this.#sent < this.#concurrencyMax) this.#sent += 1;
    // A finished call passes its slot on.
    else await new Promise<void>((resolve) => this.#line.push(resolve));
  }

  async #send(key: string, call: Call<T>): Promise<T> {
    try {
      const [payer] = call.waiting;
      if (!payer) throw new Failure('canceled', 'no caller waits for the response any more');
      call.payer = payer;
      const answer = await payer.send();
      await payer.keep?.(answer);
      return answer;
    } finally {
      this.#calls.delete(key);
      const next = this.#line.shift();
      if (next) next();
      else this.#sent -= 1;
    }
  }
}

function whileWanted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    const end = (): void => signal.removeEventListener('abort', leave);
    answer.then(resolve, reject).then(end);
  });
}
