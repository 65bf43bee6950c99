/** Shows the tree of a Markdown text with React elements; there is no way to markup from here. */
import { Children, type ReactNode, useMemo } from 'react';
import { excerptOf } from './excerpt.ts';
import { isElement, type ProseElement, type ProseNode, proseOf } from './prose-tree.ts';
import type { Range } from './source-map.ts';

export interface ProseProps {
  readonly text: string;
  readonly ranges?: readonly Range[];
  /** Only this many characters, around the marked words. */
  readonly charactersMax?: number | undefined;
}

const none: readonly Range[] = [];

export function Prose({ text, ranges = none, charactersMax }: ProseProps) {
  const nodes = useMemo(() => {
    const all = proseOf(text, ranges);
    return charactersMax === undefined ? all : excerptOf(all, charactersMax);
  }, [text, ranges, charactersMax]);
  return (
    <div className="prose" dir="auto">
      {shownAll(nodes)}
    </div>
  );
}

/** The tree of a text never changes its order, so places are sufficient keys. */
function shownAll(nodes: readonly ProseNode[]): ReactNode[] {
  return Children.toArray(nodes.map(shown));
}

function shown(node: ProseNode): ReactNode {
  if (isElement(node)) return element(node);
  return node.mark === undefined ? node.text : <mark>{node.text}</mark>;
}

function element(node: ProseElement): ReactNode {
  const inside = shownAll(node.children);
  switch (node.name) {
    case 'p':
      return <p dir="auto">{inside}</p>;
    case 'heading':
      return (
        <p className="prose-heading" dir="auto">
          {inside}
        </p>
      );
    case 'ul':
      return <ul>{inside}</ul>;
    case 'ol':
      return <ol start={node.first}>{inside}</ol>;
    case 'li':
      return <li dir="auto">{inside}</li>;
    case 'pre':
      return (
        <pre dir="ltr">
          <code>{inside}</code>
        </pre>
      );
    case 'blockquote':
      return <blockquote>{inside}</blockquote>;
    case 'hr':
      return <hr />;
    case 'br':
      return <br />;
    case 'em':
      return <em>{inside}</em>;
    case 'strong':
      return <strong>{inside}</strong>;
    case 'code':
      return <code>{inside}</code>;
    case 'a':
      return (
        <a href={node.href} target="_blank" rel="noreferrer noopener">
          {inside}
        </a>
      );
    case 'image':
      return <span className="prose-image">{inside}</span>;
    case 'table':
      return table(node);
    case 'tr':
      return <tr>{inside}</tr>;
    case 'th':
      return <th style={{ textAlign: node.align }}>{inside}</th>;
    case 'td':
      return <td style={{ textAlign: node.align }}>{inside}</td>;
  }
}

function table({ children: [head, ...rows] }: ProseElement): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by key
    // biome-ignore lint/a11y/useSemanticElements: a section would be a landmark for each table
    <div role="group" className="scroll-x" aria-label="Table" tabIndex={0}>
      <table className="table">
        {head && <thead>{shown(head)}</thead>}
        <tbody>{shownAll(rows)}</tbody>
      </table>
    </div>
  );
}
