import { Button } from '../../kit/button.tsx';
import { SecretText } from '../../kit/copy.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.keys;

/** The new key, shown once; closed by its button only. */
export const KeyDoneDialog = ({ keyId, onClose }: { keyId: string | undefined; onClose(): void }) => (
  <Dialog
    isOpen={keyId !== undefined}
    isModalOnly
    onClose={onClose}
    title={own.doneTitle}
    about={own.doneAbout}
    footer={
      <Button kind="primary" onClick={onClose}>
        {own.doneAction}
      </Button>
    }
  >
    <SecretText secret={keyId ?? ''} isShownOnce />
  </Dialog>
);
