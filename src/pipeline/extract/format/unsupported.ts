/** Unsupported formats: their name, and what to submit instead. */
import { Failure } from '../../../kernel/failure/failure.ts';

const transcribed =
  'submit a transcript of it, or submit it in the lane cheap, with a provider in ' +
  'PAWL_BATCH_PROVIDERS that transcribes what stands at such an address';

const advice: readonly (readonly [type: RegExp, what: string, instead: string])[] = [
  [/zip|gzip|bzip2|7z|rar|zstd|tar/, 'an archive', 'unpack it and submit the files in it'],
  [/^audio\//, 'a recording', transcribed],
  [/^video\//, 'a film', transcribed],
  [/^image\//, 'a picture of a kind that is not read', 'save it as PNG or JPEG'],
  [/^font\//, 'a font', 'submit the document that uses it'],
  [/elf|msdownload|wasm/, 'a program', 'submit its documentation or its source code'],
];

export function unsupported(source: string, mediaType: string | undefined): Failure {
  const known = mediaType === undefined ? undefined : advice.find(([type]) => type.test(mediaType));
  if (!known) {
    const what = mediaType ?? 'neither text nor a known format';
    return new Failure('unsupported_mime', `${source} is ${what}: convert it to PDF or text`);
  }
  const [, what, instead] = known;
  return new Failure('unsupported_mime', `${source} is ${what} (${mediaType}): ${instead}`);
}
