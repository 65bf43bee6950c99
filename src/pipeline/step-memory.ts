/**
 * What the steps of one run leave each other in memory. After a crash none of it is there, and what
 * is stored takes its place. A step that runs ahead of the clicks before it finds it only here.
 */
import { countModels } from '../store/document/chunks.ts';
import { getText, type TextRow } from '../store/document/documents.ts';
import type { Attachment } from './extract/parsed.ts';
import type { StepContext } from './pipeline.ts';

type Scratch = StepContext['scratch'];

export function holdText(scratch: Scratch, text: TextRow): void {
  scratch.set('text', text);
}

/** The text of this generation. Undefined: it is gone. */
export async function textOf({ item, reader, scratch }: StepContext): Promise<TextRow | undefined> {
  return (scratch.get('text') as TextRow | undefined) ?? getText(reader, item.id);
}

/** How many vectors of each model this generation has. */
export type ModelCounts = ReadonlyMap<string, number>;

export function holdModels(scratch: Scratch, counts: ModelCounts): void {
  scratch.set('models', counts);
}

export async function modelsOf({ item, reader, scratch }: StepContext): Promise<ModelCounts> {
  return (scratch.get('models') as ModelCounts | undefined) ?? countModels(reader, item.id);
}

/** Asks whoever reads a mail to leave its files here. Nobody does, but for an estimate. */
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

/** Whether the document is a mail, or may have been one before: then its files are looked at. */
export function holdIsMail(scratch: Scratch, isMail: boolean): void {
  scratch.set('mail', isMail);
}

/** After a crash nobody knows, and it is taken for one. */
export function mayBeMail({ scratch }: StepContext): boolean {
  return scratch.get('mail') !== false;
}
