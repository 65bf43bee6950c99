/**
 * Headings that belong to a box, not to the sections after it: `### Note`, `## Warning: …`, and
 * every heading of level 6, which the HTML extractor uses for box titles. They are part of the
 * text, but neither start a chunk nor appear in the heading path of later chunks.
 */
export function isLabel(level: number, title: string): boolean {
  if (level >= labelLevel) return true;
  // The title of a document is not the title of a box.
  if (level === 1) return false;
  const [name = ''] = title.slice(0, titleCharactersMax).split(/[:：]/, 1);
  return labels.has(name.replace(/[*_!]/g, '').trim().toLowerCase());
}

export const labelLevel = 6;
const titleCharactersMax = 100;

/** Box names in common formats (DocBook, reStructuredText, GitHub), in some languages. */
const labels = new Set(
  [
    'note,tip,hint,warning,caution,important,attention,danger,notice,nota bene,n.b.',
    'hinweis,anmerkung,tipp,warnung,achtung,vorsicht,wichtig,gefahr',
    'remarque,astuce,conseil,avertissement,attention,mise en garde,danger',
    'nota,consejo,sugerencia,advertencia,aviso,atención,precaución,importante,peligro',
    'suggerimento,avvertenza,avvertimento,attenzione,avviso,pericolo',
    'observação,dica,cuidado,atenção,perigo',
    'opmerking,let op,waarschuwing,belangrijk,voorzichtig',
    'uwaga,wskazówka,ostrzeżenie,ważne,przestroga',
    'примечание,замечание,подсказка,совет,внимание,предупреждение,осторожно,важно',
    'примітка,порада,увага,попередження,важливо',
    '注,注記,注意,備考,ヒント,警告,重要,危険',
    '提示,注释,备注,說明,备註,小心,危险',
    '참고,주의,경고,중요,팁',
  ].flatMap((line) => line.split(',')),
);
