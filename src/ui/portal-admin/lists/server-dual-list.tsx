import { useState } from 'react';
import { DualList } from '../../kit/dual-list.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { useDebounced } from '../../kit/use-debounced.ts';

export interface ServerDualListProps {
  readonly title: string;
  readonly searchLabel: string;
  /** Numbers of the chosen objects. */
  readonly ids: readonly number[];
  /** Names of the stored choice. */
  readonly known: readonly PickItem[];
  /** Objects that the server finds for a text. */
  useItems(text: string): { readonly items: readonly PickItem[] | undefined };
  onChange(ids: readonly number[]): void;
}

/** Choice among any number of objects: the server searches, and chosen ones keep the names they were found with. */
export function ServerDualList({ title, searchLabel, ids, known, useItems, onChange }: ServerDualListProps) {
  const [text, setText] = useState('');
  const [added, setAdded] = useState<readonly PickItem[]>([]);
  const { items = [] } = useItems(useDebounced(text));
  const names = [...known, ...added, ...items];
  const chosen = ids.map(id => names.find(it => Number(it.id) === id) ?? { id: String(id), name: String(id) });
  return (
    <DualList
      title={title}
      searchLabel={searchLabel}
      items={items}
      chosen={chosen}
      onSearch={setText}
      onChange={next => {
        setAdded([...added, ...next]);
        onChange(next.map(({ id }) => Number(id)));
      }}
    />
  );
}
