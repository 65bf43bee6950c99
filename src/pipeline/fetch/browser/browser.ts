/**
 * A browser process that is started on demand, used for many pages, replaced after a number of them
 * or when it dies, and ended when it is idle for a while.
 */
import { limits } from '../../../kernel/limits/limits.ts';
import type { World } from '../../../kernel/world.ts';
import type { Fetcher } from '../http/http.ts';
import { race } from '../http/race.ts';
import { type BrowserProcess, launchBrowser } from './launch.ts';
import type { Rendered, Renderer, RenderRequest } from './render.ts';
import { visit } from './visit.ts';

export interface BrowserOptions {
  /** The path of a Chromium. */
  readonly executable: string;
  readonly fetcher: Fetcher;
  readonly world: World;
  /** The number of pages per process. */
  readonly pagesPerProcess?: number;
  /** Called with the process id of each browser that is started. */
  readonly onLaunch?: (pid: number) => void;
}

/** One process, and how many pages it has shown. */
interface PooledBrowser {
  readonly started: Promise<BrowserProcess>;
  open: number;
  served: number;
}

export class ChromiumRenderer implements Renderer {
  readonly #options: BrowserOptions;
  readonly #waiting: (() => void)[] = [];
  readonly #alive = new Set<PooledBrowser>();
  #current: PooledBrowser | undefined;
  #open = 0;
  #callOffIdle: () => void = () => undefined;

  constructor(options: BrowserOptions) {
    this.#options = options;
  }

  async render(request: RenderRequest): Promise<Rendered> {
    await this.#takePlace(request.signal);
    const used = this.#take();
    try {
      const { browser } = await race(used.started, request.signal);
      const { fetcher, world } = this.#options;
      // Its end may be noticed late; until then it is not used for other pages.
      const onLost = (): void => this.#forget(used);
      return await visit(request, { browser, fetcher, world, onLost });
    } finally {
      await this.#giveBack(used);
      this.#leavePlace();
    }
  }

  async close(): Promise<void> {
    this.#callOffIdle();
    this.#current = undefined;
    await Promise.all([...this.#alive].map((used) => this.#end(used)));
  }

  #take(): PooledBrowser {
    this.#callOffIdle();
    this.#current ??= this.#start();
    const used = this.#current;
    used.open += 1;
    used.served += 1;
    const { pagesPerProcess = limits.browser.pagesPerProcessMax } = this.#options;
    if (used.served >= pagesPerProcess) this.#current = undefined;
    return used;
  }

  #start(): PooledBrowser {
    const { executable, onLaunch } = this.#options;
    const started = launchBrowser(executable);
    const used = { started, open: 0, served: 0 };
    this.#alive.add(used);
    // The caller that renders gets the launch failure; here it is only forgotten.
    started.then(
      ({ pid, browser }) => {
        onLaunch?.(pid);
        browser.once('disconnected', () => this.#forget(used));
      },
      () => this.#forget(used),
    );
    return used;
  }

  #forget(used: PooledBrowser): void {
    if (this.#current === used) this.#current = undefined;
  }

  async #giveBack(used: PooledBrowser): Promise<void> {
    used.open -= 1;
    if (used.open > 0) return;
    if (used === this.#current) this.#endWhenIdle(used);
    else await this.#end(used);
  }

  #endWhenIdle(used: PooledBrowser): void {
    const { world } = this.#options;
    this.#callOffIdle = world.setTimer(() => {
      this.#forget(used);
      void this.#end(used);
    }, limits.browser.idleMs);
  }

  async #end(used: PooledBrowser): Promise<void> {
    if (!this.#alive.delete(used)) return;
    const process = await used.started.catch(() => undefined);
    await process?.kill();
  }

  /** Waits for one of the few slots; an aborted caller leaves the line. */
  async #takePlace(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#open < limits.browser.pagesAtOnceMax) {
      this.#open += 1;
      return;
    }
    const turn = Promise.withResolvers<void>();
    this.#waiting.push(turn.resolve);
    try {
      await race(turn.promise, signal);
    } catch (error) {
      const place = this.#waiting.indexOf(turn.resolve);
      // No longer in line: the slot was assigned at the same moment, and is passed on.
      if (place < 0) this.#leavePlace();
      else this.#waiting.splice(place, 1);
      throw error;
    }
  }

  /** Passes the slot to the next in line, or frees it. */
  #leavePlace(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#open -= 1;
  }
}
