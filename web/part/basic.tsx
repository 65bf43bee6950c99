/** Basic components that every page uses. */
import { type ReactNode, useEffect, useState } from 'react';
import { Failure, failures } from '../../src/kernel/failure/failure.ts';
import type { Tone } from './job-badge.ts';
import { ago, exactTime } from './wording.ts';

export type { Tone };

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`badge tone-${tone}`}>{children}</span>;
}

const secondMs = 1000;
const minuteMs = 60_000;

/** The age of a time, updated automatically, with the exact time on hover. */
export function Time({ at }: { at: string | null }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (at === null) return;
    const isFresh = Math.abs(Date.now() - Date.parse(at)) < minuteMs;
    const timer = setInterval(() => setNow(Date.now()), isFresh ? secondMs : minuteMs / 2);
    return () => clearInterval(timer);
  }, [at]);
  if (at === null) return <span className="soft">never</span>;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {ago(at, Math.max(now, Date.now()))}
    </time>
  );
}

export interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** The suggested next action. */
  readonly next?: ReactNode;
}

export function Empty({ title, children, next }: EmptyProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {next}
    </div>
  );
}

/** An error with its code and its advice. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const failure = error instanceof Failure ? error : undefined;
  const row = failure && failures[failure.code];
  return (
    <div className="problem" role="alert">
      <h2>
        {row?.title ?? 'This page had an unexpected error'}{' '}
        {failure && <code className="soft">{failure.code}</code>}
      </h2>
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {row && <p className="soft">{row.advice}</p>}
      {failure?.context.request_id !== undefined && (
        <p className="soft small">request {String(failure.context.request_id)}</p>
      )}
      {onRetry && (
        <button type="button" className="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

const widths = ['72%', '54%', '83%', '61%', '77%', '48%'];

/** A placeholder while content loads. */
export function Skeleton({ lines = 4 }: { lines?: number }) {
  return (
    <div className="stack" aria-busy="true">
      <span className="hidden-text">Loading</span>
      {Array.from({ length: lines }, (_, line) => line).map((line) => (
        <span key={line} className="skeleton" style={{ width: widths[line % widths.length] }} />
      ))}
    </div>
  );
}

/** Content wider than the screen scrolls, also with the keyboard. */
export function Wide({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by key
    <section className="scroll-x" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

export interface Fact {
  readonly name: string;
  readonly value: ReactNode;
  readonly isPlain?: boolean;
}

export function Facts({ facts, isWide = false }: { facts: readonly Fact[]; isWide?: boolean }) {
  return (
    <dl className={isWide ? 'facts wide' : 'facts'}>
      {facts.map(({ name, value, isPlain }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className={isPlain ? 'plain' : undefined}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
