/**
 * Whatever deletes, discards or sends text elsewhere needs somebody's word: an answer typed at a
 * terminal, or `--yes`. What comes through a pipe is not an answer.
 */
import { createInterface } from 'node:readline/promises';
import { type Call, type Option, usageError } from './command.ts';

export const consentOption: Readonly<Record<'yes', Option>> = {
  yes: { type: 'boolean', meaning: 'do it without asking; needed where nobody can be asked' },
};

/** False: somebody was asked, and did not say yes. */
export async function hasConsent(call: Call, question: string): Promise<boolean> {
  if (call.flags.yes === true) return true;
  if (!call.terminal.isAnswering) {
    throw usageError(`${question} Nobody can be asked here: add --yes to confirm`);
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  // The end of the input is no answer, and would leave the question open.
  const ended = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
  const asked = prompt.question(`${question} [y/N] `, { signal: call.interrupt });
  try {
    return /^y(es)?$/i.test((await Promise.race([asked, ended])).trim());
  } finally {
    prompt.close();
  }
}
