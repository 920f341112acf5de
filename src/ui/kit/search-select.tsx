import { type KeyboardEvent, useId, useState } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { classNames } from './class-names.ts';
import type { SelectOption } from './field.tsx';
import { useDebounced } from './use-debounced.ts';

export interface FoundOptions {
  readonly options: readonly SelectOption[] | undefined;
  readonly error: Error | null;
  /** There are more than these. */
  readonly hasMore: boolean;
}

export interface SearchSelectProps {
  readonly label: string;
  /** Text of no choice, which is the first option. */
  readonly emptyLabel: string;
  readonly value: string;
  /** Text of the chosen value. */
  readonly valueLabel: string;
  onChange(value: string): void;
  /** Options for a text; reads nothing while the list is closed. */
  useOptions(text: string, isOpen: boolean): FoundOptions;
}

/** Select whose options the server finds: a combobox with a listbox (WAI-ARIA 1.2), for lists of any length. */
export function SearchSelect({ label, emptyLabel, valueLabel, ...rest }: SearchSelectProps) {
  const list = useId();
  const { isOpen, text, options, active, status, open, type, close, choose, press } = useCombobox({
    emptyLabel,
    ...rest,
  });
  return (
    <div className="relative w-56 max-w-full">
      <input
        role="combobox"
        aria-label={label}
        aria-expanded={isOpen}
        aria-autocomplete="list"
        aria-controls={isOpen ? list : undefined}
        aria-activedescendant={isOpen && options[active] ? `${list}-${active}` : undefined}
        placeholder={emptyLabel}
        autoComplete="off"
        className="control w-full truncate border border-edge bg-surface px-2.5 text-ink"
        value={isOpen ? text : valueLabel}
        onClick={open}
        onBlur={close}
        onChange={event => type(event.target.value)}
        onKeyDown={press}
      />
      {isOpen && (
        <OptionList
          id={list}
          label={label}
          options={options}
          active={active}
          status={status}
          onChoose={choose}
          onKey={press}
        />
      )}
    </div>
  );
}

type ComboboxProps = Omit<SearchSelectProps, 'label' | 'valueLabel'>;

function useCombobox({ emptyLabel, value, onChange, useOptions }: ComboboxProps) {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState('');
  const [place, setPlace] = useState(0);
  const wanted = text.trim();
  const searched = useDebounced(wanted);
  const found = useOptions(searched, isOpen);
  // Options of another text are no choice: Enter right after typing would take one of them.
  const current = searched === wanted ? found.options : undefined;
  const none = wanted === '' ? [{ value: '', label: emptyLabel }] : [];
  const options = [...none, ...(current ?? [])];
  const active = Math.min(place, options.length - 1);
  const close = () => {
    setOpen(false);
    setText('');
    setPlace(0);
  };
  const choose = (option: SelectOption | undefined) => {
    if (!option) return;
    close();
    if (option.value !== value) onChange(option.value);
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (event.key === 'Enter' && isOpen) choose(options[active]);
    if (event.key === 'Escape') close();
    if (step === 0) return;
    event.preventDefault();
    if (isOpen) setPlace((active + step + options.length) % Math.max(options.length, 1));
    setOpen(true);
  };
  return {
    isOpen,
    text,
    options,
    active,
    status: describeStatus({ ...found, options: current }, options.length),
    open: () => setOpen(true),
    type: (typed: string) => {
      setOpen(true);
      setText(typed);
      setPlace(0);
    },
    close,
    choose,
    press,
  };
}

function describeStatus({ options, error, hasMore }: FoundOptions, shown: number): string {
  if (error) return error.message;
  if (!options) return sharedTexts.kit.loading;
  if (shown === 0) return sharedTexts.kit.noMatch;
  return hasMore ? sharedTexts.kit.typeForMore : '';
}

interface OptionListProps {
  readonly id: string;
  readonly label: string;
  readonly options: readonly SelectOption[];
  readonly active: number;
  readonly status: string;
  onChoose(option: SelectOption): void;
  onKey(event: KeyboardEvent): void;
}

const OptionList = ({ id, label, options, active, status, onChoose, onKey }: OptionListProps) => (
  <div className="absolute top-full left-0 z-40 mt-1 w-full rounded-card border border-line bg-raised p-1 shadow-layer">
    <div id={id} role="listbox" aria-label={label} className="max-h-72 overflow-y-auto">
      {options.map((option, index) => (
        <div
          key={option.value}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          className={classNames('min-h-8 truncate rounded-control px-2 py-1', index === active ? 'bg-accent-soft' : '')}
          // The field keeps the focus, so that its blur does not close the list before the click.
          onMouseDown={event => event.preventDefault()}
          onClick={() => onChoose(option)}
          onKeyDown={onKey}
        >
          {option.label}
        </div>
      ))}
    </div>
    <p role="status" className="px-2 py-1 text-small text-dim empty:hidden">
      {status}
    </p>
  </div>
);
