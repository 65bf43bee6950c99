/** Checks added steps when Pawl opens: a wrong step must not meet a document. */
import { Failure } from '../kernel/failure/failure.ts';
import type { StepRow } from '../kernel/lifecycle/item.ts';
import { limits } from '../kernel/limits/limits.ts';
import {
  aFunction,
  checkPort,
  isText,
  type MemberCheck,
  type MemberChecks,
  oneOf,
  orAbsent,
  wholeNumber,
} from '../kernel/port-check.ts';
import type { AddedStep, StepPort } from './step.ts';

/** Bits below belong to Pawl; bit 31 is the sign. */
export const addedBits = { from: 16, to: 30 };
/** Steps that run side by side multiply the states of an item. */
const addedMax = 8;
const replaceable = ['content_extracted', 'entity_extracted'];
export const firstReadStep = 'content_extracted';

const names: MemberCheck = [
  'a list of names of steps',
  (value) => Array.isArray(value) && value.length > 0 && value.every(isText),
];
const stepName: MemberCheck = [
  'a name of lower-case letters, digits and _, at most 40',
  (value) => typeof value === 'string' && /^[a-z][a-z0-9_]{0,39}$/.test(value),
];
const terms = {
  version: [
    'a text of 1 to 40 characters',
    (value) => typeof value === 'string' && /^[^\s]{1,40}$/.test(value),
  ] satisfies MemberCheck,
  timeoutMs: orAbsent(wholeNumber(1, limits.step.addedMsMax)),
  run: aFunction,
};

/** The form is known by its verb: `add`, `replace` or `wrap`. */
export function checkSteps(values: unknown, own: readonly StepRow[]): readonly StepPort[] {
  if (!Array.isArray(values)) {
    throw new Failure('usage_error', 'open({ steps }) must be a list of steps');
  }
  const steps = values.map((value: unknown, place) => checkStep(value, place, own));
  const added = steps.filter((step) => step.add !== undefined);
  if (added.length > addedMax) {
    const message = `open({ steps }) adds ${added.length} steps: the limit is ${addedMax}`;
    throw new Failure('usage_error', message);
  }
  refuseTwice(
    added.map(({ add }) => add),
    'the name',
  );
  refuseTwice(
    added.map(({ bit }) => String(bit)),
    'the bit',
  );
  refuseTwice(
    steps.flatMap((step) => (step.replace === undefined ? [] : [step.replace])),
    'the replacement of',
  );
  return steps;
}

function checkStep(value: unknown, place: number, own: readonly StepRow[]): StepPort {
  const from = `open({ steps }), entry ${place},`;
  const what = 'step';
  const given = (value ?? {}) as Readonly<Record<string, unknown>>;
  const verbs = ['add', 'replace', 'wrap'].filter((verb) => given[verb] !== undefined);
  if (verbs.length !== 1) {
    const message = `${from} is no step: it must have exactly one of add, replace and wrap`;
    throw new Failure('usage_error', message);
  }
  const known = own.map(({ step }) => step);
  const isNew: MemberCheck = [
    `${stepName[0]}, and none of ${known.join(', ')}`,
    (name) => stepName[1](name) && !known.includes(String(name)),
  ];
  if (verbs[0] === 'replace') {
    return checkPort(value, { replace: oneOf(...replaceable), ...terms }, { from, what });
  }
  if (verbs[0] === 'wrap') {
    return checkPort(value, { wrap: oneOf(...known), ...terms }, { from, what });
  }
  const bit = wholeNumber(addedBits.from, addedBits.to);
  const places = { after: orAbsent(names), before: orAbsent(names) };
  const checks: MemberChecks<Omit<AddedStep, 'replace' | 'wrap'>> = {
    add: isNew,
    bit,
    ...places,
    ...terms,
  };
  return checkPort(value, checks, { from, what });
}

function refuseTwice(values: readonly string[], what: string): void {
  const twice = values.find((value, place) => values.indexOf(value) !== place);
  if (twice === undefined) return;
  throw new Failure('usage_error', `open({ steps }) has ${what} ${twice} twice`);
}
