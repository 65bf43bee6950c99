/**
 * PowerPoint presentations from 1997 to 2003: a stream of nested records. The text of a slide is in
 * the list of slides, or in the drawing of the slide itself; notes follow.
 */
import { Failure } from '../../../../kernel/failure/failure.ts';
import { beyond, damaged } from '../refuse.ts';
import { openOle } from './ole.ts';

const record = {
  slide: 0x03ee,
  notes: 0x03f0,
  mainMaster: 0x03f8,
  handout: 0x0fc9,
  listOfSlides: 0x0ff0,
  slideInList: 0x03f3,
  textHeader: 0x0f9f,
  wideText: 0x0fa0,
  narrowText: 0x0fa8,
  document: 0x03e8,
};
/** This token in the `Current User` stream marks an encrypted presentation. */
const encryptedToken = 0xf3d1c4df;
const titles = new Set([0, 6]);
const depthMax = 50;
const recordsMax = 1_000_000;

interface Slide {
  readonly texts: { readonly text: string; readonly isTitle: boolean }[];
}

export function readPpt(bytes: Uint8Array, source: string): string {
  const ole = openOle(bytes);
  // A file for two versions has the newer one in a separate folder.
  const stream = ['PP97_DUALSTORAGE/PowerPoint Document', 'PowerPoint Document']
    .map((name) => ole.read(name))
    .find((found) => found !== undefined);
  if (!stream) throw damaged(`${source} has no presentation stream`);
  const user = ole.read('Current User');
  if (user && user.length >= 16 && user.readUInt32LE(12) === encryptedToken) {
    throw new Failure('encrypted_document', `${source} is protected by a password`);
  }
  const found = new SlideTexts();
  walk(stream, { depth: 0, found });
  if (found.left <= 0) throw beyond('records', `${source} has more than ${recordsMax} records`);
  return found.markdown();
}

/** The texts found so far, in display order. */
class SlideTexts {
  readonly #slides: Slide[] = [];
  readonly #notes: Slide[] = [];
  #open: Slide | undefined;
  #kind = 0;
  left = recordsMax;

  begin(type: number): void {
    const slide: Slide = { texts: [] };
    (type === record.notes ? this.#notes : this.#slides).push(slide);
    this.#open = slide;
  }

  close(): void {
    this.#open = undefined;
  }

  header(kind: number): void {
    this.#kind = kind;
  }

  text(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: marks of the format
    const marks = /[\0-\x08\x0e-\x1f]/g;
    const words = text
      .replace(/[\r\v]/g, '\n')
      .replace(marks, '')
      .trim();
    const isTitle = titles.has(this.#kind);
    const isPlaceholder = words === '*' || words === '';
    if (!isPlaceholder) this.#open?.texts.push({ text: words, isTitle });
    this.#kind = -1;
  }

  /** Text in the list and in the drawing is the same text. */
  markdown(): string {
    const seen = new Set<string>();
    const blocksOf = ({ texts }: Slide): string[] =>
      texts.flatMap(({ text, isTitle }) => {
        const key = text.replace(/\s+/g, ' ');
        if (isTitle && seen.has(`title ${key}`)) return [];
        if (isTitle) seen.add(`title ${key}`);
        return isTitle ? [`## ${key}`] : [text];
      });
    const unique = (slides: readonly Slide[]): Slide[] => {
      const keys = new Set<string>();
      return slides.filter((slide) => {
        const key = slide.texts.map(({ text }) => text).join('\n');
        if (key === '' || keys.has(key)) return false;
        keys.add(key);
        return true;
      });
    };
    const slides = unique(this.#slides).flatMap(blocksOf);
    const notes = unique(this.#notes).flatMap(({ texts }) => texts.map(({ text }) => text));
    return [...slides, ...(notes.length > 0 ? ['## Notes', ...notes] : [])].join('\n\n');
  }
}

interface Walk {
  readonly depth: number;
  readonly found: SlideTexts;
}

/** Masters and handouts contain only placeholders. */
const passedOver = new Set([record.mainMaster, record.handout]);

function walk(stream: Buffer, { depth, found }: Walk): void {
  for (let at = 0; at + 8 <= stream.length && found.left > 0; found.left -= 1) {
    const isContainer = ((stream[at] ?? 0) & 0x0f) === 0x0f;
    const instance = stream.readUInt16LE(at) >> 4;
    const type = stream.readUInt16LE(at + 2);
    const body = stream.subarray(at + 8, at + 8 + stream.readUInt32LE(at + 4));
    at += 8 + stream.readUInt32LE(at + 4);
    if (isContainer && depth < depthMax && !passedOver.has(type)) {
      // Instances of the list: 0 has slides, 1 has masters, 2 has notes.
      if (type === record.listOfSlides && instance !== 0) continue;
      if (type === record.slide || type === record.notes) found.begin(type);
      walk(body, { depth: depth + 1, found });
      if (type === record.slide || type === record.notes) found.close();
    } else readAtom(type, body, found);
  }
}

function readAtom(type: number, body: Buffer, found: SlideTexts): void {
  if (type === record.slideInList) found.begin(type);
  if (type === record.textHeader && body.length >= 4) found.header(body.readUInt32LE(0));
  if (type === record.wideText) found.text(body.toString('utf16le'));
  if (type === record.narrowText) found.text(new TextDecoder('windows-1252').decode(body));
}
