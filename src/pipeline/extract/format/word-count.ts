/** Words normalized for comparison: lower case, without signs and letter variants. */
export function plainWords(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

export function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of plainWords(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
