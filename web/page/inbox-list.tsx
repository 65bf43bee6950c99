/** The causes, their documents, and the keys that act on the selected one. */
import { useState, useSyncExternalStore } from 'react';
import type { Cause, Item } from '../../src/contract/schema/schema.ts';
import { useKeys } from '../part/keys.ts';
import { useWorkbench } from '../workbench.ts';
import { type Choice, useInboxActions } from './inbox-actions.ts';
import { CauseView } from './inbox-cause.tsx';

const nameOf = ({ cause, item }: Choice): string =>
  item ? `item ${item.item_id}` : `cause ${cause.fingerprint}`;

export interface InboxListProps {
  readonly causes: readonly Cause[];
  readonly corpus: string | undefined;
}

export function InboxList({ causes, corpus }: InboxListProps) {
  const { discards } = useWorkbench();
  const hidden = useSyncExternalStore(discards.listen, () => discards.names);
  const [open, setOpen] = useState<ReadonlySet<string>>(
    () => new Set(firstOf(causes).map(({ fingerprint }) => fingerprint)),
  );
  const [opened, setOpened] = useState<number>();
  const [listed, setListed] = useState<ReadonlyMap<string, readonly Item[]>>(new Map());
  const { retry, discard } = useInboxActions(corpus);
  const choices = causes.flatMap((cause): Choice[] => {
    const items = open.has(cause.fingerprint) ? (listed.get(cause.fingerprint) ?? []) : [];
    return [{ cause }, ...items.map((item) => ({ cause, item }))];
  });
  const { chosen, choose } = useInboxKeys(choices, { retry, discard });
  const enter = (choice: Choice): void => {
    const { cause, item } = choice;
    choose(choice);
    if (!item) setOpen((before) => toggled(before, cause.fingerprint));
    else setOpened((before) => (before === item.item_id ? undefined : item.item_id));
  };
  return (
    <div className="stack">
      {causes.map((cause) => (
        <CauseView
          key={cause.fingerprint}
          cause={cause}
          corpus={corpus}
          isOpen={open.has(cause.fingerprint)}
          chosen={chosen}
          opened={opened}
          hidden={hidden}
          onEnter={enter}
          onRetry={retry}
          onDiscard={discard}
          onListed={(items) => setListed((before) => new Map(before).set(cause.fingerprint, items))}
        />
      ))}
    </div>
  );
}

const openedMax = 12;

/** The first cause, and each after it whose documents fit on the screen as well. */
function firstOf(causes: readonly Cause[]): readonly Cause[] {
  let listed = 0;
  return causes.filter(({ count }, place) => {
    listed += count;
    return place === 0 || listed <= openedMax;
  });
}

type Act = (choice: Choice) => void;

/** The selected entry has the focus, so that Enter opens it and a screen reader reads it. */
function useInboxKeys(
  choices: readonly Choice[],
  { retry, discard }: { retry: Act; discard: Act },
): { chosen: string | undefined; choose: Act } {
  const [chosen, setChosen] = useState<string>();
  const place = choices.findIndex((choice) => nameOf(choice) === chosen);
  const choose = (choice: Choice): void => setChosen(nameOf(choice));
  const move = (step: number): void => {
    const next = choices[Math.min(Math.max(place + step, 0), choices.length - 1)];
    if (!next) return;
    choose(next);
    document.getElementById(nameOf(next))?.focus();
  };
  const act = (run: Act) => (): void => {
    const choice = choices[place];
    if (choice) run(choice);
  };
  const moveOn = (run: Act): Act => {
    return (choice) => {
      move(place === choices.length - 1 ? -1 : 1);
      run(choice);
    };
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    r: act(moveOn(retry)),
    d: act(moveOn(discard)),
    R: act(({ cause }) => retry({ cause })),
    D: act(({ cause }) => discard({ cause })),
  });
  return { chosen, choose };
}

function toggled(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(names);
  if (!next.delete(name)) next.add(name);
  return next;
}
