import { sharedTexts } from '../../texts/shared-texts.ts';
import { FactList } from '../card.tsx';
import { Dialog } from '../dialog.tsx';

export interface ShortcutDialogProps {
  readonly isOpen: boolean;
  /** Keys with their meaning. */
  readonly list: readonly (readonly [keys: string, about: string])[];
  onClose(): void;
}

export const ShortcutDialog = ({ isOpen, list, onClose }: ShortcutDialogProps) => (
  <Dialog isOpen={isOpen} onClose={onClose} title={sharedTexts.shell.shortcuts}>
    <FactList
      rows={list.map(([keys, about]) => [
        about,
        <kbd key={keys} className="rounded-control border border-line px-1.5 font-mono text-small">
          {keys}
        </kbd>,
      ])}
    />
  </Dialog>
);
