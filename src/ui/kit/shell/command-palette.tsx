import { Dialog } from 'radix-ui';
import { type KeyboardEvent, useId, useState } from 'react';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { classNames } from '../class-names.ts';
import { useFocusReturn } from '../focus-return.ts';

export interface PaletteCommand {
  readonly id: string;
  readonly label: string;
  readonly detail: string;
  run(): void;
}

const panel =
  'opens fixed top-[12dvh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-[640px] -translate-x-1/2 rounded-dialog border ' +
  'border-line bg-raised shadow-layer';

export interface CommandPaletteProps {
  readonly isOpen: boolean;
  onClose(): void;
  /** Commands for a text. */
  useCommands(text: string): { readonly commands: readonly PaletteCommand[]; readonly isSearching: boolean };
}

/** Pages, actions and objects by name. */
export function CommandPalette({ isOpen, onClose, useCommands }: CommandPaletteProps) {
  const returnFocus = useFocusReturn(isOpen);
  return (
    <Dialog.Root open={isOpen} onOpenChange={open => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Content aria-describedby={undefined} className={panel} onCloseAutoFocus={returnFocus}>
          <Dialog.Title className="sr-only">{sharedTexts.shell.search}</Dialog.Title>
          <Palette onClose={onClose} useCommands={useCommands} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Palette({ onClose, useCommands }: Omit<CommandPaletteProps, 'isOpen'>) {
  const [text, setText] = useState('');
  const [place, setPlace] = useState(0);
  const list = useId();
  const { commands, isSearching } = useCommands(text);
  const active = Math.min(place, commands.length - 1);
  const run = (command: PaletteCommand | undefined) => {
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
        aria-label={sharedTexts.shell.search}
        placeholder={sharedTexts.shell.search}
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
        {isSearching ? sharedTexts.shell.searching : commands.length === 0 ? sharedTexts.shell.noResults : ''}
      </p>
    </>
  );
}

interface CommandListProps {
  readonly id: string;
  readonly commands: readonly PaletteCommand[];
  readonly active: number;
  onPoint(place: number): void;
  onRun(command: PaletteCommand): void;
  onKey(event: KeyboardEvent): void;
}

const CommandList = ({ id, commands, active, onPoint, onRun, onKey }: CommandListProps) => (
  <div
    id={id}
    role="listbox"
    aria-label={sharedTexts.shell.pagesAndActions}
    className="max-h-[50dvh] overflow-auto p-2"
  >
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
