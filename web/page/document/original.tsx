/** The original of a document: a PDF at the page of the chosen passage, a page without scripts. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { Document } from '../../../src/contract/schema/schema.ts';
import { Empty, Problem, Skeleton } from '../../part/basic.tsx';
import { bytes, shortSource } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';
import { inertPage } from './inert-page.ts';

export interface OriginalProps {
  readonly document: Document;
  /** The page of the chosen passage, if it has one. */
  readonly page: number | null;
}

export function Original({ document, page }: OriginalProps) {
  const { client } = useWorkbench();
  const { document_id: id, generation } = document;
  const query = useQuery({
    queryKey: ['document', id, 'original', generation],
    queryFn: ({ signal }) => client().original(id, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (query.isPending) return <Skeleton lines={12} />;
  if (query.isError) return <Problem error={query.error} onRetry={() => void query.refetch()} />;
  return <Shown blob={query.data} document={document} page={page} />;
}

function Shown({ blob, document, page }: OriginalProps & { blob: Blob }) {
  const address = useAddress(blob);
  const [type = ''] = blob.type.split(';');
  const name = nameOf(document);
  return (
    <div className="stack">
      <p className="row soft small">
        <span>{`${type || 'unknown type'} · ${bytes(blob.size)}`}</span>
        {page !== null && type === 'application/pdf' && <span>{`page ${page}`}</span>}
        {address && (
          <a className="button" href={address} download={name}>
            Download
          </a>
        )}
      </p>
      <View type={type} blob={blob} address={address} name={name} page={page} />
    </div>
  );
}

interface ViewProps {
  readonly type: string;
  readonly blob: Blob;
  readonly address: string | undefined;
  readonly name: string;
  readonly page: number | null;
}

function View({ type, blob, address, name, page }: ViewProps) {
  if (type === 'text/html' || type === 'application/xhtml+xml') return <WebPage blob={blob} />;
  if (/^text\/|\bjson$|\bxml$/.test(type)) return <PlainText blob={blob} />;
  if (!address) return null;
  if (type === 'application/pdf') {
    const at = `${address}#page=${page ?? 1}`;
    // A viewer that is open does not follow a new fragment.
    return <iframe key={at} className="original" title={`Original of ${name}`} src={at} />;
  }
  if (/^image\/(?:png|jpeg|gif|webp|avif|bmp)$/.test(type)) {
    return <img className="original-image" src={address} alt={`Original of ${name}`} />;
  }
  return (
    <Empty title="This format has no preview">
      Download the original, and open it in a program.
    </Empty>
  );
}

function WebPage({ blob }: { blob: Blob }) {
  const text = useText(blob);
  const page = useMemo(() => (text === undefined ? undefined : inertPage(text)), [text]);
  if (page === undefined) return <Skeleton lines={12} />;
  return (
    <>
      <p className="soft small">Without scripts, images and styles: nothing is loaded.</p>
      <iframe className="original" title="Original web page" sandbox="" srcDoc={page} />
    </>
  );
}

const textCharactersMax = 1_000_000;

function PlainText({ blob }: { blob: Blob }) {
  const text = useText(blob);
  if (text === undefined) return <Skeleton lines={12} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by key
    <pre className="output original-text" dir="auto" tabIndex={0}>
      {text.slice(0, textCharactersMax)}
      {text.length > textCharactersMax && '\n… The rest is in the download.'}
    </pre>
  );
}

function useAddress(blob: Blob): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return address;
}

function useText(blob: Blob): string | undefined {
  const [text, setText] = useState<string>();
  useEffect(() => {
    let isShown = true;
    void blob.arrayBuffer().then((content) => {
      if (isShown) setText(decoderOf(blob.type).decode(content));
    });
    return () => {
      isShown = false;
    };
  }, [blob]);
  return text;
}

function decoderOf(type: string): TextDecoder {
  const [, charset = 'utf-8'] = /charset="?([^";\s]+)/i.exec(type) ?? [];
  try {
    return new TextDecoder(charset);
  } catch {
    // A charset that this browser does not know: most texts are readable as UTF-8.
    return new TextDecoder();
  }
}

function nameOf({ source_url, title }: Document): string {
  const last = shortSource(source_url.replace(/[?#].*$/, ''))
    .split('/')
    .findLast((part) => part !== '');
  return last ?? title ?? 'document';
}
