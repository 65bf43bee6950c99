/**
 * A browser process that is started when a page needs it, used for many pages, replaced after so
 * many of them or when it dies, and ended when nobody has needed it for a while.
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
  /** Pages that one process shows before another takes over. */
  readonly pagesPerProcess?: number;
  /** Told the process id of each browser that is started. */
  readonly onLaunch?: (pid: number) => void;
}

/** One process, and how much it has been used. */
interface Used {
  readonly started: Promise<BrowserProcess>;
  open: number;
  served: number;
}

export class ChromiumRenderer implements Renderer {
  readonly #options: BrowserOptions;
  readonly #waiting: (() => void)[] = [];
  readonly #alive = new Set<Used>();
  #current: Used | undefined;
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
      // It may take a while until its end is noticed; nobody is given it meanwhile.
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

  #take(): Used {
    this.#callOffIdle();
    this.#current ??= this.#start();
    const used = this.#current;
    used.open += 1;
    used.served += 1;
    const { pagesPerProcess = limits.browser.pagesPerProcessMax } = this.#options;
    if (used.served >= pagesPerProcess) this.#current = undefined;
    return used;
  }

  #start(): Used {
    const { executable, onLaunch } = this.#options;
    const started = launchBrowser(executable);
    const used = { started, open: 0, served: 0 };
    this.#alive.add(used);
    // Whoever renders is told of a launch that failed; here it is only forgotten.
    started.then(
      ({ pid, browser }) => {
        onLaunch?.(pid);
        browser.once('disconnected', () => this.#forget(used));
      },
      () => this.#forget(used),
    );
    return used;
  }

  #forget(used: Used): void {
    if (this.#current === used) this.#current = undefined;
  }

  async #giveBack(used: Used): Promise<void> {
    used.open -= 1;
    if (used.open > 0) return;
    if (used === this.#current) this.#endWhenIdle(used);
    else await this.#end(used);
  }

  #endWhenIdle(used: Used): void {
    const { world } = this.#options;
    this.#callOffIdle = world.setTimer(() => {
      this.#forget(used);
      void this.#end(used);
    }, limits.browser.idleMs);
  }

  async #end(used: Used): Promise<void> {
    if (!this.#alive.delete(used)) return;
    const process = await used.started.catch(() => undefined);
    await process?.kill();
  }

  /** Waits for one of the few places; whoever is called off leaves the line. */
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
      // Not in the line any more: the place was given in the same moment, and is handed on.
      if (place < 0) this.#leavePlace();
      else this.#waiting.splice(place, 1);
      throw error;
    }
  }

  /** Hands the place to the next in line, or frees it. */
  #leavePlace(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#open -= 1;
  }
}
