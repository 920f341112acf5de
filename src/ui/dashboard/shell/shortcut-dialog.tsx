import { FactList } from '../../kit/card.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { texts } from '../../texts/texts.ts';

export const ShortcutDialog = ({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) => (
  <Dialog isOpen={isOpen} onClose={onClose} title={texts.shell.shortcuts}>
    <FactList
      rows={texts.shell.shortcutList.map(([keys, about]) => [
        about,
        <kbd key={keys} className="rounded-control border border-line px-1.5 font-mono text-small">
          {keys}
        </kbd>,
      ])}
    />
  </Dialog>
);
