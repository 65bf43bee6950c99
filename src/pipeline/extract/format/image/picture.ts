/** A picture: its recognized text. */
import { limits } from '../../../../kernel/limits/limits.ts';
import { sniffBinary } from '../../../fetch/http/sniff.ts';
import type { Parser } from '../../parsed.ts';
import { beyond, damaged, withoutText } from '../refuse.ts';
import { pictureDpi, recognize } from './ocr.ts';
import { pictureSize } from './picture-size.ts';

/** Small pictures are scaled up. */
const lensDpi = 300;
const smallPixelsMax = 1_500_000;

export const parsePicture: Parser = async ({ bytes, mediaType, source }, signal) => {
  // The library sniffs the bytes too, and would pass other files to other programs.
  const isAsSaid = sniffBinary(bytes) === mediaType;
  const size = isAsSaid ? pictureSize(mediaType, bytes) : undefined;
  if (!size || size.width === 0 || size.height === 0) {
    throw damaged(`${source} is a picture that was cut off, or is damaged`);
  }
  const pixels = size.width * size.height;
  if (pixels > limits.parse.imagePixelsMax) {
    throw beyond('pixels', `${source} has ${size.width} × ${size.height} pixels`);
  }
  const dpi = pixels <= smallPixelsMax ? lensDpi : pictureDpi;
  const markdown = await recognize(bytes, { page: 1, dpi }, signal);
  if (markdown === '') throw withoutText(`${source} is a picture in which no text is recognized`);
  return { title: null, language: null, markdown, meta: { ...size, pages_recognized: 1 } };
};
