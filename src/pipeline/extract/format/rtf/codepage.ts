/** The charset of an RTF text, by RTF's numbers. */

const byPage: Readonly<Record<number, string>> = {
  437: 'windows-1252',
  850: 'windows-1252',
  866: 'ibm866',
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gb18030',
  949: 'euc-kr',
  950: 'big5',
  1250: 'windows-1250',
  1251: 'windows-1251',
  1252: 'windows-1252',
  1253: 'windows-1253',
  1254: 'windows-1254',
  1255: 'windows-1255',
  1256: 'windows-1256',
  1257: 'windows-1257',
  1258: 'windows-1258',
  10000: 'macintosh',
  65001: 'utf-8',
};

/** A font may use another charset than the document. */
const pageOfFont: Readonly<Record<number, number>> = {
  77: 10000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
};

export const defaultCharset = 'windows-1252';

export function charsetOfPage(page: number): string {
  return byPage[page] ?? defaultCharset;
}

/** Undefined if the font uses that of the document. */
export function charsetOfFont(number: number): string | undefined {
  const page = pageOfFont[number];
  return page === undefined ? undefined : byPage[page];
}
