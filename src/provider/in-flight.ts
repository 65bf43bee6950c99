/**
 * Paid calls that are under way, so many at once. Who asks for what is already on its way waits for
 * the same answer: the first of those who wait when it is sent pays. Who no longer waits leaves; a
 * call that nobody waits for is not sent. What was sent is paid for, so its answer is kept all the
 * same.
 */
import { Failure } from '../kernel/failure/failure.ts';

export interface Asking<T> {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly send: () => Promise<T>;
  /** Called for whoever pays. Only when this resolves is the answer handed on. */
  readonly keep?: ((answer: T) => Promise<void>) | undefined;
}

interface Call<T> {
  readonly waiting: Set<Asking<T>>;
  /** Undefined while it was not sent. */
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

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#calls.size > 0) {
      await Promise.allSettled([...this.#calls.values()].map(({ answer }) => answer));
    }
  }

  #begin(key: string, asking: Asking<T>): Begun<T> {
    const call: Call<T> = { waiting: new Set([asking]) };
    const answer = this.#turn().then(() => this.#send(key, call));
    // Those who wait are told of a failure; where nobody does, there is nobody to tell.
    answer.catch(() => undefined);
    const begun = { call, answer };
    this.#calls.set(key, begun);
    return begun;
  }

  async #turn(): Promise<void> {
    if (this.#sent < this.#concurrencyMax) this.#sent += 1;
    // Whoever makes room hands its place on.
    else await new Promise<void>((resolve) => this.#line.push(resolve));
  }

  async #send(key: string, call: Call<T>): Promise<T> {
    try {
      const [payer] = call.waiting;
      if (!payer) throw new Failure('canceled', 'nobody waits for the answer any more');
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
