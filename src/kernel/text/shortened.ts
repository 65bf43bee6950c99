/** A text without its middle, if it is too long: the start says what it is, the end what to do. */
export function shortened(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const end = Math.floor(charactersMax / 4);
  const start = charactersMax - end - 1;
  return `${text.slice(0, start)}…${text.slice(-end)}`.toWellFormed();
}
