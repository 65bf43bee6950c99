/**
 * Values that the steps of one run pass to each other in memory. After a crash they are gone, and
 * the stored ones are read instead. A step that runs ahead of a commit finds them only here.
 */
import { countModels } from '../store/document/chunks.ts';
import { getText, type TextRow } from '../store/document/documents.ts';
import type { Attachment } from './extract/parsed.ts';
import type { StepContext } from './pipeline.ts';

type Scratch = StepContext['scratch'];

export function holdText(scratch: Scratch, text: TextRow): void {
  scratch.set('text', text);
}

/** The text of this generation. Undefined if it is gone. */
export async function textOf({ item, reader, scratch }: StepContext): Promise<TextRow | undefined> {
  return (scratch.get('text') as TextRow | undefined) ?? getText(reader, item.id);
}

/** The number of vectors per model of this generation. */
export type ModelCounts = ReadonlyMap<string, number>;

export function holdModels(scratch: Scratch, counts: ModelCounts): void {
  scratch.set('models', counts);
}

export async function modelsOf({ item, reader, scratch }: StepContext): Promise<ModelCounts> {
  return (scratch.get('models') as ModelCounts | undefined) ?? countModels(reader, item.id);
}

/** Asks the mail parser to leave the attachments here. Only an estimate does this. */
export function askForFiles(scratch: Scratch): void {
  scratch.set('files', []);
}

export function holdFiles(scratch: Scratch, files: readonly Attachment[] = []): void {
  filesIn(scratch)?.push(...files);
}

export function filesOf({ scratch }: StepContext): readonly Attachment[] {
  return filesIn(scratch) ?? [];
}

function filesIn(scratch: Scratch): Attachment[] | undefined {
  return scratch.get('files') as Attachment[] | undefined;
}

/** Whether the document is, or may have been, a mail: then its attachments are checked. */
export function holdIsMail(scratch: Scratch, isMail: boolean): void {
  scratch.set('mail', isMail);
}

/** Unknown after a crash: then it is treated as a mail. */
export function mayBeMail({ scratch }: StepContext): boolean {
  return scratch.get('mail') !== false;
}
