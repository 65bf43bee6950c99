/** Outlook messages: sender, recipients, date, text and attachments. */
import { limits } from '../../../../kernel/limits/limits.ts';
import { countWords } from '../../html/block/blocks.ts';
import { withLosses } from '../../loss.ts';
import type { Parsed, ParseInput } from '../../parsed.ts';
import { type Ole, openOle } from '../office/ole.ts';
import { beyond } from '../refuse.ts';
import { readHtmlDocument } from '../xml/html-document.ts';
import { filesOf } from './mail-files.ts';
import { type Letter, readLetter } from './msg-letter.ts';
import { partsOfMsg } from './msg-parts.ts';

export async function readMsg(input: ParseInput): Promise<Parsed> {
  const ole = metered(openOle(input.bytes), input.source);
  const letter = await readLetter(ole, input);
  const { subject, from, to, cc, date, messageId, html } = letter;
  const head = Object.entries({ From: from, To: to, Cc: cc, Date: date })
    .filter(([, value]) => value)
    .map(([name, value]) => `${name}: ${value}`);
  const body = bodyOf(letter);
  const files = filesOf(await partsOfMsg(ole, (part) => readLetter(part, input)), html);
  const parts = [head.join('\n'), body, files.text].filter((part) => part !== '');
  const isEnvelope = body === '' && subject === '' && files.attachments.length === 0;
  const parsed = {
    title: subject || null,
    language: null,
    markdown: isEnvelope ? '' : parts.join('\n\n'),
    meta: {
      ...(from !== '' && { author: from }),
      ...(to !== '' && { to }),
      ...(date !== '' && { date }),
      ...(messageId !== '' && { message_id: messageId }),
      ...files.meta,
    },
    attachments: files.attachments,
  };
  return withLosses(parsed, { ...files.reading, withDropped: input.withDropped });
}

function bodyOf({ plain, html }: Letter): string {
  if (html === '') return plain;
  const rich = readHtmlDocument(html, { hasGrids: false }).markdown;
  return countWords(rich) > 1.5 * countWords(plain) ? rich : plain;
}

/** Streams of a forged container may overlap: the total that is read is bounded. */
function metered({ names, read }: Ole, source: string): Ole {
  let bytesLeft = limits.parse.oleBytesMax;
  return {
    names,
    read: (name) => {
      const bytes = read(name);
      bytesLeft -= bytes?.length ?? 0;
      if (bytesLeft < 0) throw beyond('ole', `${source} has more in its streams than bytes`);
      return bytes;
    },
  };
}
