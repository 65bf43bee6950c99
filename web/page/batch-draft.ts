/** The form of a batch task, and the task that it creates. */
import type { AnswerOf, BodyOf } from '../../src/contract/contract.ts';

type Provider = AnswerOf<'GET /batch/providers'>['items'][number];

/** A kind of work that can be submitted now. */
export interface Kind {
  readonly value: string;
  readonly taskType: string;
  readonly input: Provider['input'];
  /** Absent if the model determines the provider. */
  readonly provider?: string;
}

export interface TaskDraft {
  readonly kind: string;
  readonly urls: string;
  readonly language: string;
  readonly models: string;
  readonly instruction: string;
  readonly inputs: string;
}

export const nothing: TaskDraft = {
  kind: '',
  urls: '',
  language: '',
  models: '',
  instruction: '',
  inputs: '',
};

/** Work on addresses is offered per provider; work on requests once, for all providers. */
export function kindsOf(providers: readonly Provider[]): readonly Kind[] {
  const kinds = providers.flatMap(({ provider, task_types, input }) =>
    task_types.map((taskType): Kind => {
      if (input === 'requests') return { value: taskType, taskType, input };
      return { value: `${taskType} ${provider}`, taskType, input, provider };
    }),
  );
  return [...new Map(kinds.map((kind) => [kind.value, kind])).values()];
}

/** Why it cannot be sent yet. */
export function problemOf({ input }: Kind, draft: TaskDraft): string | undefined {
  if (input === 'urls') return linesOf(draft.urls).length > 0 ? undefined : 'Enter an address.';
  if (namesOf(draft.models).length === 0) return 'Enter at least one model.';
  return linesOf(draft.inputs).length > 0 ? undefined : 'Enter at least one line.';
}

export function bodyOf(
  { taskType, input, provider }: Kind,
  draft: TaskDraft,
): BodyOf<'POST /batch/tasks'> {
  const models = namesOf(draft.models);
  const named = models.length > 0 && { models };
  if (input === 'urls') {
    const language = draft.language.trim();
    return {
      task_type: taskType,
      ...(provider !== undefined && { provider }),
      urls: linesOf(draft.urls),
      ...(language !== '' && { language }),
      ...named,
    };
  }
  const instruction = draft.instruction.trim();
  const requests = linesOf(draft.inputs).map((line, index) => ({
    custom_id: `line-${index + 1}`,
    input: line,
    ...(instruction !== '' && { instruction }),
  }));
  return { task_type: taskType, ...named, requests };
}

const textsOf = (text: string, between: RegExp): string[] =>
  text
    .split(between)
    .map((part) => part.trim())
    .filter((part) => part !== '');
const linesOf = (text: string): string[] => textsOf(text, /\n/);
const namesOf = (text: string): string[] => textsOf(text, /[\s,]+/);
