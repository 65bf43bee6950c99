/**
 * Commands that delete, discard or send text elsewhere need consent: an answer typed at a terminal,
 * or `--yes`. Piped input is not an answer.
 */
import { createInterface } from 'node:readline/promises';
import { type Call, type Option, usageError } from './command.ts';

export const consentOption: Readonly<Record<'yes', Option>> = {
  yes: {
    type: 'boolean',
    short: 'y',
    meaning: 'do not ask for confirmation; required without a terminal',
  },
};

/** False if the user was asked and did not answer yes. */
export async function hasConsent(call: Call, question: string): Promise<boolean> {
  if (call.flags.yes === true) return true;
  if (!call.terminal.isAnswering) {
    const message = `${question} There is no terminal to ask on, and no --yes`;
    throw usageError(message, 'Check what would be changed, then add --yes to confirm.');
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  // The end of the input is not an answer, and would leave the prompt open.
  const ended = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
  const asked = prompt.question(`${question} [y/N] `, { signal: call.interrupt });
  try {
    return /^y(es)?$/i.test((await Promise.race([asked, ended])).trim());
  } finally {
    prompt.close();
  }
}
