/** Equations of Word as a line of text: `x^2`, `(a + b)/(2c)`, `√(y)`, `∑_(i=1)^n`. */
import { attributeOf, childOf, childrenOf, readXml, type XmlElement } from '../xml/xml.ts';

const equation = /<m:oMath[\s>](?:[^<]|<(?!\/m:oMath>))*<\/m:oMath>/g;

/** Each equation becomes a text run, which every reader keeps. */
export function withEquations(part: string): string {
  if (!part.includes('<m:oMath')) return part;
  return part.replace(equation, (whole) => {
    const text = linear(readXml(whole)).replace(/\s+/g, ' ').trim();
    return `<w:r><w:t xml:space="preserve">${escaped(text)}</w:t></w:r>`;
  });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

type Reader = (element: XmlElement) => string;

const part = (element: XmlElement, name: string): string => {
  const found = childOf(element, name);
  return found ? linear(found) : '';
};

/** In parentheses, unless it is a single sign, number or name. */
const group = (text: string): string => (/^[\p{L}\p{N}.]*$/u.test(text) ? text : `(${text})`);

const below = (text: string): string => (text === '' ? '' : `_${group(text)}`);
const above = (text: string): string => (text === '' ? '' : `^${group(text)}`);

const readers: Readonly<Record<string, Reader>> = {
  f: (each) => `${group(part(each, 'num'))}/${group(part(each, 'den'))}`,
  sSup: (each) => part(each, 'e') + above(part(each, 'sup')),
  sSub: (each) => part(each, 'e') + below(part(each, 'sub')),
  sSubSup: (each) => part(each, 'e') + below(part(each, 'sub')) + above(part(each, 'sup')),
  sPre: (each) => below(part(each, 'sub')) + above(part(each, 'sup')) + part(each, 'e'),
  rad: (each) => `${above(part(each, 'deg'))}√(${part(each, 'e')})`,
  nary: (each) =>
    `${signOf(each, '∫')}${below(part(each, 'sub'))}${above(part(each, 'sup'))} ${part(each, 'e')}`,
  d: (each) =>
    markOf(each, 'begChr', '(') +
    childrenOf(each, 'e')
      .map(linear)
      .join(markOf(each, 'sepChr', '|')) +
    markOf(each, 'endChr', ')'),
  func: (each) => `${part(each, 'fName')} ${part(each, 'e')}`,
  limLow: (each) => part(each, 'e') + below(part(each, 'lim')),
  limUpp: (each) => part(each, 'e') + above(part(each, 'lim')),
  m: (each) =>
    `[${childrenOf(each, 'mr')
      .map((row) => childrenOf(row, 'e').map(linear).join(', '))
      .join('; ')}]`,
  eqArr: (each) => childrenOf(each, 'e').map(linear).join('; '),
  t: (each) => each.children.filter((child) => typeof child === 'string').join(''),
};

/** Formatting elements have no text. */
const isFormat = /Pr$/;

function linear(element: XmlElement): string {
  const reader = readers[element.name];
  if (reader) return reader(element);
  return childrenOf(element)
    .filter(({ name }) => !isFormat.test(name))
    .map(linear)
    .join('');
}

function signOf(element: XmlElement, usual: string): string {
  return markOf(element, 'chr', usual);
}

function markOf(element: XmlElement, name: string, usual: string): string {
  const format = childrenOf(element).find((child) => isFormat.test(child.name));
  const found = format && childOf(format, name);
  return found ? (attributeOf(found, 'm:val') ?? '') : usual;
}
