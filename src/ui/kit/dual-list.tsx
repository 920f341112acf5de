import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { IconButton } from './button.tsx';
import type { PickItem } from './pick-list.tsx';

export interface DualListProps {
  readonly title: string;
  /** Accessible name of the search. */
  readonly searchLabel: string;
  readonly items: readonly PickItem[];
  readonly chosen: readonly PickItem[];
  onChange(chosen: readonly PickItem[]): void;
  /** Where the server searches: `items` are what it finds for the text. */
  onSearch?(text: string): void;
}

const list = 'flex max-h-72 min-h-24 min-w-0 flex-col gap-1 overflow-y-auto rounded-control border border-line p-2';

/** Choice of several objects: the available ones at the left, with a search, and the chosen ones at the right. */
export function DualList({ title, searchLabel, items, chosen, onChange, onSearch }: DualListProps) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const isChosen = (id: string) => chosen.some(it => it.id === id);
  const isWanted = (name: string) => onSearch !== undefined || name.toLowerCase().includes(wanted);
  const available = items.filter(({ id, name }) => !isChosen(id) && isWanted(name));
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 font-medium">{title}</legend>
      <div className="grid grid-cols-1 gap-4 min-[901px]:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-1">
          <input
            type="search"
            aria-label={searchLabel}
            placeholder={searchLabel}
            className="control w-full border border-edge bg-surface px-2.5"
            value={text}
            onChange={event => {
              setText(event.target.value);
              onSearch?.(event.target.value);
            }}
          />
          <ul aria-label={sharedTexts.kit.available(title)} className={list}>
            {available.map(item => (
              <Item
                key={item.id}
                item={item}
                icon={Plus}
                label={sharedTexts.kit.add(item.name)}
                onSelect={() => onChange([...chosen, item])}
              />
            ))}
            {available.length === 0 && <li className="text-dim">{sharedTexts.kit.none}</li>}
          </ul>
        </div>
        <ul aria-label={sharedTexts.kit.chosen(title)} className={list}>
          {chosen.map(item => (
            <Item
              key={item.id}
              item={item}
              icon={X}
              label={sharedTexts.kit.remove(item.name)}
              onSelect={() => onChange(chosen.filter(({ id }) => id !== item.id))}
            />
          ))}
          {chosen.length === 0 && <li className="text-dim">{sharedTexts.kit.none}</li>}
        </ul>
      </div>
    </fieldset>
  );
}

interface ItemProps {
  readonly item: PickItem;
  readonly icon: typeof Plus;
  readonly label: string;
  onSelect(): void;
}

const Item = ({ item, icon, label, onSelect }: ItemProps) => (
  <li className="flex items-center gap-2">
    <span className="min-w-0 grow break-words">{item.name || item.id}</span>
    <IconButton icon={icon} label={label} onClick={onSelect} />
  </li>
);
