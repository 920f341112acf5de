import { type KeyboardEvent, useState } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { CallError } from './calls.ts';
import { Checkbox } from './field.tsx';
import { Skeleton } from './states.tsx';
import { useDebounced } from './use-debounced.ts';

export interface PickItem {
  readonly id: string;
  readonly name: string;
  /** Category, for the form that offers it. */
  readonly kind?: string | undefined;
  /** Why it cannot be chosen. */
  readonly reason?: string | undefined;
}

export interface PickListProps {
  readonly title: string;
  /** Accessible name of the search. */
  readonly searchLabel: string;
  /** Text where nothing exists. */
  readonly empty: string;
  readonly chosen: readonly PickItem[];
  onChange(chosen: readonly PickItem[]): void;
  readonly isDisabled?: boolean;
  /** One object at most: another choice replaces it. */
  readonly isSingle?: boolean;
  /** Found items for a text: a page of them. */
  useItems(text: string): { readonly items: readonly PickItem[] | undefined; readonly error: Error | null };
}

/** Choice of objects that the server finds: chosen ones stay in sight, whatever is searched. */
export function PickList({
  title,
  searchLabel,
  empty,
  chosen,
  onChange,
  isDisabled = false,
  isSingle = false,
  useItems,
}: PickListProps) {
  const [text, setText] = useState('');
  const { items, error } = useItems(useDebounced(text));
  const isChosen = (id: string) => chosen.some(it => it.id === id);
  const found = items ?? [];
  const shown = [...chosen.filter(({ id }) => !found.some(it => it.id === id)), ...found];
  const toggle = (item: PickItem) => {
    const others = isSingle ? [] : chosen.filter(({ id }) => id !== item.id);
    onChange(isChosen(item.id) ? others : [...others, item]);
  };
  return (
    <fieldset className="flex min-w-0 flex-col gap-1" disabled={isDisabled}>
      <legend className="mb-1 font-medium">{title}</legend>
      <input
        type="search"
        aria-label={searchLabel}
        placeholder={searchLabel}
        className="control mb-1 w-full border border-edge bg-surface px-2.5"
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={keepForm}
      />
      <div className="flex max-h-72 flex-col gap-1 overflow-y-auto p-0.5">
        {!items && !error && <Skeleton lines={3} />}
        {error && <p className="text-dim">{describeFailure(error)}</p>}
        {items && shown.length === 0 && <p className="text-dim">{text === '' ? empty : sharedTexts.kit.noMatch}</p>}
        {shown.map(item => (
          <Checkbox
            key={item.id}
            label={<span className="break-words">{item.name || item.id}</span>}
            help={item.reason}
            disabled={item.reason !== undefined && !isChosen(item.id)}
            checked={isChosen(item.id)}
            onChange={() => toggle(item)}
          />
        ))}
      </div>
    </fieldset>
  );
}

/** Enter in the search submits no form around the list. */
const keepForm = (event: KeyboardEvent) => event.key === 'Enter' && event.preventDefault();

const describeFailure = (error: Error) =>
  error instanceof CallError && error.status === 403 ? sharedTexts.kit.notListed : error.message;
