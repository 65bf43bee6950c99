/** RTF: paragraphs, headings, lists and tables, in the code pages of its fonts. */
import type { Parser } from '../../parsed.ts';
import { toTable } from '../table.ts';
import { charsetOfFont, charsetOfPage, defaultCharset } from './codepage.ts';
import { scanRtf } from './scan.ts';

export const parseRtf: Parser = async ({ bytes }) => {
  const reader = new RtfReader();
  scanRtf(Buffer.from(bytes).toString('latin1'), {
    onOpen: () => reader.open(),
    onClose: () => reader.close(),
    onWord: (word, number) => reader.word(word, number),
    onBytes: (text) => reader.bytes(text),
  });
  const { title, author } = reader.fields;
  return {
    title: title?.trim() || null,
    language: null,
    markdown: reader.finish(),
    meta: { ...(author?.trim() && { author: author.trim() }) },
  };
};

/** Where the text of a group goes. */
type Destination = 'text' | 'skip' | 'fonts' | 'styles' | 'marker' | 'title' | 'author';

const destinations: Readonly<Record<string, Destination>> = {
  fonttbl: 'fonts',
  stylesheet: 'styles',
  listtext: 'marker',
  pntext: 'marker',
  title: 'title',
  author: 'author',
  ...Object.fromEntries(
    `colortbl pict object objdata header headerl headerr headerf footer footerl footerr footerf
     themedata generator listtable listoverridetable rsidtbl xmlnstbl fldinst datafield bkmkstart
     bkmkend info operator comment doccomm subject keywords category company annotation atnid
     atnauthor tc xe shpinst nonshppict pgdsctbl revtbl private template`
      .split(/\s+/)
      .map((name) => [name, 'skip' as const]),
  ),
};

/** Groups marked by `\*` are skipped unless known. These are known. */
const knownExtras = new Set(['shppict', 'pn', 'fldinst', 'listtext', 'footnote']);

/** Control words for paragraphs of the text. They are ignored in page headers and markers. */
const ofText = new Set(
  'pard par sect page intbl cell nestcell row ilvl outlinelevel footnote'.split(' '),
);

const symbols: Readonly<Record<string, string>> = {
  tab: ' ',
  line: '\n',
  emdash: '—',
  endash: '–',
  bullet: '•',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  emspace: ' ',
  enspace: ' ',
  '~': '\u00a0',
  _: '-',
  '\\': '\\',
  '{': '{',
  '}': '}',
  '\n': '\n',
};

interface Group {
  readonly destination: Destination;
  readonly charset: string | undefined;
  /** How many fallback characters follow a Unicode character. */
  readonly fallback: number;
  readonly isHidden: boolean;
}

class RtfReader {
  readonly fields: { title?: string; author?: string } = {};
  readonly #blocks: string[] = [];
  readonly #groups: Group[] = [];
  readonly #fonts = new Map<number, string>();
  readonly #headings = new Map<number, number>();
  #group: Group = { destination: 'text', charset: undefined, fallback: 1, isHidden: false };
  #documentCharset = defaultCharset;
  #pending = '';
  #toSkip = 0;
  #isExtra = false;
  #isGroupBegun = true;
  #paragraph: string[] = [];
  #marker = '';
  #level = 0;
  /** The depth of the list item. */
  #depth = 0;
  #font = 0;
  #style = 0;
  #styleName = '';
  #isInTable = false;
  #cells: string[] = [];
  #rows: string[][] = [];

  open(): void {
    this.#flush();
    this.#groups.push(this.#group);
    this.#toSkip = 0;
    this.#isGroupBegun = false;
  }

  close(): void {
    this.#flush();
    if (this.#group.destination === 'styles') this.#endStyle();
    this.#group = this.#groups.pop() ?? this.#group;
    this.#toSkip = 0;
    this.#isExtra = false;
  }

  bytes(text: string): void {
    this.#isExtra = false;
    this.#isGroupBegun = true;
    const skipped = Math.min(this.#toSkip, text.length);
    this.#toSkip -= skipped;
    this.#pending += text.slice(skipped);
  }

  word(word: string, number: number | undefined): void {
    if (word === '*') {
      // It marks a whole group. Later in a group, some programs write it before any word.
      this.#isExtra = !this.#isGroupBegun;
      return;
    }
    this.#isGroupBegun = true;
    const isExtra = this.#isExtra;
    this.#isExtra = false;
    const symbol = symbols[word];
    // A symbol may be the fallback of a character that was already read.
    if (this.#toSkip > 0 && (symbol !== undefined || word === '-')) {
      this.#toSkip -= 1;
      return;
    }
    this.#flush();
    const destination = destinations[word];
    if (destination !== undefined || (isExtra && !knownExtras.has(word))) {
      this.#enter(destination ?? 'skip');
    } else if (symbol !== undefined) this.#write(symbol);
    else if (this.#group.destination === 'text' || !ofText.has(word)) {
      this.#actions[word]?.(number ?? 1, number === undefined);
    }
  }

  finish(): string {
    this.#endParagraph();
    // The last row may lack its end.
    if (this.#cells.length > 0) this.#endRow();
    this.#endTable();
    return this.#blocks.join('\n\n');
  }

  /** A group inside a skipped one is skipped too; the title is among skipped fields. */
  #enter(destination: Destination): void {
    const isField = destination === 'title' || destination === 'author';
    if (this.#group.destination === 'skip' && !isField) return;
    this.#group = { ...this.#group, destination };
  }

  readonly #actions: Readonly<Record<string, (number: number, isBare: boolean) => void>> = {
    ansicpg: (page) => {
      this.#documentCharset = charsetOfPage(page);
    },
    mac: () => {
      this.#documentCharset = 'macintosh';
    },
    f: (font) => {
      this.#font = font;
      if (this.#group.destination !== 'fonts') {
        this.#group = { ...this.#group, charset: this.#fonts.get(font) };
      }
    },
    fcharset: (number) => {
      const charset = charsetOfFont(number);
      if (charset !== undefined) this.#fonts.set(this.#font, charset);
    },
    uc: (fallback) => {
      this.#group = { ...this.#group, fallback: Math.min(Math.max(fallback, 0), 8) };
    },
    u: (code) => {
      this.#write(String.fromCharCode(code & 0xffff));
      this.#toSkip = this.#group.fallback;
    },
    v: (number, isBare) => {
      this.#group = { ...this.#group, isHidden: isBare || number !== 0 };
    },
    plain: () => {
      this.#group = { ...this.#group, isHidden: false };
    },
    s: (style) => {
      this.#style = style;
      if (this.#group.destination === 'text') this.#level = this.#headings.get(style) ?? 0;
    },
    outlinelevel: (level) => {
      if (level < 6) this.#level = level + 1;
    },
    pard: () => {
      // A note has its own paragraphs, inside one of the text.
      if (this.#paragraph.length > 0) return;
      this.#level = 0;
      this.#depth = 0;
      this.#isInTable = false;
    },
    intbl: () => {
      this.#isInTable = true;
    },
    par: () => (this.#isInTable ? this.#write(' ') : this.#endParagraph()),
    sect: () => this.#endParagraph(),
    page: () => this.#endParagraph(),
    cell: () => {
      this.#cells.push(this.#taken());
    },
    ilvl: (depth) => {
      this.#depth = Math.min(Math.max(depth, 0), 6);
    },
    footnote: () => this.#write(' '),
    nestcell: () => this.#write(' '),
    row: () => this.#endRow(),
  };

  /** Bytes are decoded together: a character may take two of them. */
  #flush(): void {
    if (this.#pending === '') return;
    const charset = this.#group.charset ?? this.#documentCharset;
    const text = new TextDecoder(charset).decode(Buffer.from(this.#pending, 'latin1'));
    this.#pending = '';
    this.#write(text);
  }

  #write(text: string): void {
    const { destination, isHidden } = this.#group;
    if (destination === 'text' && !isHidden) this.#paragraph.push(text);
    else if (destination === 'marker') this.#marker += text;
    else if (destination === 'styles') this.#styleName += text;
    else if (destination === 'title' || destination === 'author') {
      this.fields[destination] ??= text;
    }
  }

  /** Style names are English in every language of the program. */
  #endStyle(): void {
    const level = /^\s*heading (\d)/i.exec(this.#styleName)?.[1];
    if (level !== undefined) this.#headings.set(this.#style, Number(level));
    this.#styleName = '';
    this.#style = 0;
  }

  #taken(): string {
    const text = this.#paragraph.join('');
    this.#paragraph = [];
    this.#marker = '';
    return text
      .replace(/[^\S\n]+/g, ' ')
      .replace(/ ?\n ?/g, '\n')
      .trim();
  }

  #endParagraph(): void {
    const marker = this.#marker.trim();
    const text = this.#taken();
    if (text === '') return;
    this.#endTable();
    const number = /^\(?(\d{1,4})[.)]/.exec(marker)?.[1];
    if (this.#level > 0) {
      this.#blocks.push(`${'#'.repeat(Math.min(this.#level, 6))} ${text.replace(/\s+/g, ' ')}`);
    } else if (marker !== '') {
      this.#endItem(`${'   '.repeat(this.#depth)}${number ? `${number}.` : '-'} ${text}`);
    } else this.#blocks.push(text);
  }

  /** Items of one list stay together. */
  #endItem(item: string): void {
    const before = this.#blocks.at(-1);
    if (before !== undefined && /^ *(?:-|\d+\.) /.test(before)) {
      this.#blocks[this.#blocks.length - 1] = `${before}\n${item}`;
    } else this.#blocks.push(item);
  }

  #endRow(): void {
    this.#rows.push(this.#cells);
    this.#cells = [];
  }

  #endTable(): void {
    if (this.#rows.length > 0) this.#blocks.push(toTable(this.#rows));
    this.#rows = [];
  }
}
