/** Where items are, as conditions in SQL. */
import { type ItemPlace, isOpenPlace, waits } from '../../kernel/lifecycle/item-wait.ts';
import { sqlList } from '../../kernel/lifecycle/machine.ts';

/** The condition that an item is at one of these places. */
export function atPlaces(places: readonly ItemPlace[], table = 'items'): string {
  const open = places.filter(isOpenPlace);
  const ended = places.filter((place) => !isOpenPlace(place));
  const parts = [
    ...(open.length > 0 ? [isAmong(`${table}.waits_on`, open, waits.length)] : []),
    ...(ended.length > 0 ? [isAmong(`${table}.step`, ended)] : []),
  ];
  return parts.length === 1 ? (parts[0] ?? '') : `(${parts.join(' OR ')})`;
}

function isAmong(column: string, places: readonly ItemPlace[], all = Number.NaN): string {
  if (places.length === all) return `${column} IS NOT NULL`;
  const list = sqlList(places);
  return places.length === 1 ? `${column} = ${list}` : `${column} IN (${list})`;
}
