import { useNavigate } from '@tanstack/react-router';
import { Dialog } from 'radix-ui';
import { type KeyboardEvent, useId, useState } from 'react';
import { classNames } from '../../kit/class-names.ts';
import { useOperation } from '../../kit/queries.ts';
import { useDebounced } from '../../kit/use-debounced.ts';
import { texts } from '../../texts/texts.ts';
import { usePreferences } from '../session/preferences.ts';
import { canUse, useSession } from '../session/session.ts';
import { navigation, objectPages } from './navigation.ts';

interface Command {
  readonly id: string;
  readonly label: string;
  readonly detail: string;
  run(): void;
}

const minSearchChars = 2;
const panel =
  'opens fixed top-[12dvh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-[640px] -translate-x-1/2 rounded-dialog border ' +
  'border-line bg-raised shadow-layer';

/** Pages, actions and objects by name. */
export const CommandPalette = ({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) => (
  <Dialog.Root open={isOpen} onOpenChange={open => !open && onClose()}>
    <Dialog.Portal>
      <Dialog.Overlay className="fixed inset-0 z-40 bg-scrim" />
      <Dialog.Content aria-describedby={undefined} className={panel}>
        <Dialog.Title className="sr-only">{texts.shell.search}</Dialog.Title>
        <Palette onClose={onClose} />
      </Dialog.Content>
    </Dialog.Portal>
  </Dialog.Root>
);

function Palette({ onClose }: { onClose(): void }) {
  const [text, setText] = useState('');
  const [place, setPlace] = useState(0);
  const list = useId();
  const { commands, isSearching } = useCommands(text);
  const active = Math.min(place, commands.length - 1);
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (event.key === 'Enter') run(commands[active]);
    if (step === 0) return;
    event.preventDefault();
    setPlace((active + step + commands.length) % Math.max(commands.length, 1));
  };
  return (
    <>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={commands[active] ? `${list}-${active}` : undefined}
        aria-label={texts.shell.search}
        placeholder={texts.shell.search}
        autoComplete="off"
        className="h-12 w-full rounded-t-dialog border-b border-line bg-transparent px-4 text-large outline-none"
        value={text}
        onChange={event => {
          setText(event.target.value);
          setPlace(0);
        }}
        onKeyDown={press}
      />
      <CommandList id={list} commands={commands} active={active} onPoint={setPlace} onRun={run} onKey={press} />
      <p role="status" className="px-4 pb-3 text-small text-dim empty:hidden">
        {isSearching ? texts.shell.searching : commands.length === 0 ? texts.shell.noResults : ''}
      </p>
    </>
  );
}

interface CommandListProps {
  readonly id: string;
  readonly commands: readonly Command[];
  readonly active: number;
  onPoint(place: number): void;
  onRun(command: Command): void;
  onKey(event: KeyboardEvent): void;
}

const CommandList = ({ id, commands, active, onPoint, onRun, onKey }: CommandListProps) => (
  <div id={id} role="listbox" aria-label={texts.shell.pagesAndActions} className="max-h-[50dvh] overflow-auto p-2">
    {commands.map((command, index) => (
      <div
        key={command.id}
        id={`${id}-${index}`}
        role="option"
        tabIndex={-1}
        aria-selected={index === active}
        className={classNames('flex min-h-9 gap-3 rounded-control px-3 py-1.5', index === active && 'bg-accent-soft')}
        onPointerMove={() => onPoint(index)}
        onClick={() => onRun(command)}
        onKeyDown={onKey}
      >
        <span className="grow truncate">{command.label}</span>
        <span className="text-dim">{command.detail}</span>
      </div>
    ))}
  </div>
);

const includesText = (label: string, text: string) => label.toLowerCase().includes(text.trim().toLowerCase());

function useCommands(text: string): { commands: readonly Command[]; isSearching: boolean } {
  const session = useSession();
  const navigate = useNavigate();
  const { change } = usePreferences();
  const wanted = useDebounced(text.trim());
  const isLong = wanted.length >= minSearchChars;
  const found = useOperation('GET /api/search', { query: { q: wanted } }, { enabled: isLong, keepPrevious: true });
  const pages = navigation
    .flatMap(({ entries }) => entries)
    .filter(({ permission }) => permission === undefined || canUse(session, permission))
    .map(({ to, label }) => ({ id: to, label: texts.shell.goTo(label), detail: '', run: () => void navigate({ to }) }));
  const appearances = (['system', 'light', 'dark'] as const).map(theme => ({
    id: `theme-${theme}`,
    label: texts.shell.themes[theme],
    detail: texts.shell.theme,
    run: () => change({ theme }),
  }));
  const own = [...pages, ...appearances].filter(({ label }) => includesText(label, text));
  const objects = (isLong ? (found.data?.value.results ?? []) : []).flatMap(({ kind, items }) =>
    items.flatMap(({ id, name }) => {
      const toPage = objectPages[kind];
      const open = () => void navigate({ to: toPage?.(id) ?? '/' });
      return toPage ? [{ id: `${kind}-${id}`, label: name, detail: texts.shell.kinds[kind] ?? kind, run: open }] : [];
    }),
  );
  return { commands: [...objects, ...own], isSearching: isLong && found.isFetching };
}
