/**
 * The engine next to its peers and the bare stores, in one run of several rounds, so that other
 * load on the machine affects all of them alike.
 */
import { ask } from '../measure/child.ts';
import { installPeers } from '../peers/install.ts';
import { measures } from './measures.ts';
import { openPlaces, type Places } from './places.ts';
import { type Subject, subjectsOf } from './subjects.ts';
import { type Row, type Sample, shown, summarize } from './summary.ts';

export interface SuiteOptions {
  readonly runs: number;
  readonly isQuick: boolean;
  /** Only entries with all of these words in their names: `pawl postgres`, `raw`, `dbos`. */
  readonly only: readonly string[];
  readonly tell: (line: string) => void;
}

export interface SuiteResult {
  readonly postgres: string;
  readonly rows: readonly Row[];
  readonly failures: readonly Failed[];
}

export interface Failed {
  readonly name: string;
  readonly isPeer: boolean;
  readonly reason: string;
}

export async function runEngineSuite(options: SuiteOptions): Promise<SuiteResult> {
  const size = options.isQuick ? 'quick' : 'full';
  const wanted = subjectsOf(size).filter((subject) => isWanted(subject, options.only));
  const { subjects, failures } = withoutUninstalled(wanted);
  const places = await openPlaces();
  try {
    const samples: Sample[] = [];
    const tuned: Subject[] = [];
    for (const subject of subjects) tuned.push(await tune(places, subject, options.tell));
    for (let round = 1; round <= options.runs; round++) {
      for (const subject of tuned.filter(({ isOnce }) => round === 1 || !isOnce)) {
        const result = await measure(places, subject);
        if ('failure' in result) failures.push(failureOf(subject, result.failure));
        else samples.push(...result.samples);
        const outcome = 'failure' in result ? 'failed' : result.samples.map(shown).join(', ');
        options.tell(`${round}/${options.runs} ${nameOf(subject)}: ${outcome}`);
      }
    }
    return { postgres: places.postgres, rows: summarize(measures, samples), failures };
  } finally {
    await places.close();
  }
}

type Measured = { readonly samples: readonly Sample[] } | { readonly failure: string };

function measure(places: Places, subject: Subject): Promise<Measured> {
  const { engine, store } = subject;
  return places.use(store, async (place) => {
    const answer = await ask(subject.file, { store: place, ...subject.request });
    if ('failure' in answer) return answer;
    return { samples: answer.readings.map((reading) => ({ ...reading, engine, store })) };
  });
}

/** The load of a trial, as a share of the full one. */
const trialPart = 1 / 3;

/** Tries each concurrency once, and chooses the one with the highest throughput. */
async function tune(
  places: Places,
  subject: Subject,
  tell: SuiteOptions['tell'],
): Promise<Subject> {
  if (!subject.sweep) return subject;
  const { documents } = subject.request;
  const trial = { ...subject.request, documents: Math.ceil(Number(documents) * trialPart) };
  let best = { places: subject.sweep[0], value: 0 };
  for (const count of subject.sweep) {
    const result = await measure(places, { ...subject, request: { ...trial, places: count } });
    const isGoal = ({ measure: key }: Sample) => key === 'documents' || key === 'processed';
    const value = 'failure' in result ? 0 : (result.samples.find(isGoal)?.value ?? 0);
    if (value > best.value) best = { places: count, value };
    tell(`trial ${nameOf(subject)}, ${count} places: ${Math.round(value)}/s`);
  }
  return { ...subject, request: { ...subject.request, places: best.places } };
}

function withoutUninstalled(wanted: readonly Subject[]): {
  subjects: Subject[];
  failures: Failed[];
} {
  const uninstalled = wanted.some(({ peer }) => peer) ? installPeers() : new Map<string, string>();
  const failures: Failed[] = [];
  const subjects = wanted.filter((subject) => {
    const reason = uninstalled.get(subject.peer ?? '');
    if (reason !== undefined) failures.push(failureOf(subject, reason));
    return reason === undefined;
  });
  return { subjects, failures };
}

function failureOf(subject: Subject, reason: string): Failed {
  return { name: nameOf(subject), isPeer: subject.peer !== undefined, reason };
}

function isWanted(subject: Subject, words: readonly string[]): boolean {
  return words.every((word) => nameOf(subject).toLowerCase().includes(word.toLowerCase()));
}

function nameOf({ engine, store, file, request }: Subject): string {
  const script = file.pathname
    .split('/')
    .at(-1)
    ?.replace(/\.\w+$/, '');
  return `${engine} on ${store}: ${request.probe ?? script}`;
}
