/** The record of a run: violations, acknowledgements, and its log. */
export interface Violation {
  readonly invariant: string;
  readonly detail: string;
}

export interface Acknowledged {
  readonly caller: string;
  readonly jobKey: string;
  readonly itemIds: readonly number[];
}

const violationsKept = 20;

export class Recorder {
  readonly violations: Violation[] = [];
  readonly acknowledged: Acknowledged[] = [];
  /** Jobs that a person canceled or discarded failed items of: counts do not decide their end. */
  readonly touchedJobs = new Set<string>();
  /** Documents that a person asked to delete: they may be gone, and may come again. */
  readonly deletedDocuments = new Set<string>();
  /** The newest item of each document before an acknowledged deletion. */
  readonly deletions = new Map<string, number>();
  readonly failpoints = new Set<string>();
  readonly lines: string[] = [];
  stepsInvoked = 0;
  zombieSteps = 0;
  refusedReports = 0;
  reads = 0;
  suspectsClaimed = 0;
  readonly #isTracing: boolean;
  readonly #clock: () => number;

  constructor(isTracing: boolean, clock: () => number) {
    this.#isTracing = isTracing;
    this.#clock = clock;
  }

  violate(invariant: string, detail: string): void {
    this.tell(() => `VIOLATION ${invariant}: ${detail}`);
    if (this.violations.length < violationsKept) this.violations.push({ invariant, detail });
  }

  tell(line: () => string): void {
    if (!this.#isTracing) return;
    this.lines.push(`${(this.#clock() / 1000).toFixed(3).padStart(10)} ${line()}`);
  }
}
