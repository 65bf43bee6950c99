/** Letters, digits and combining marks. The result for each character is cached. */
export function wordCodes(): (code: number) => boolean {
  const kinds = new Int8Array(0x10000);
  return (code) => {
    if (kinds[code] === 0) {
      kinds[code] = /[\p{L}\p{N}\p{M}]/u.test(String.fromCharCode(code)) ? 1 : -1;
    }
    return kinds[code] === 1;
  };
}
