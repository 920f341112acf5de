import { Button } from '../../kit/button.tsx';
import { CopyButton } from '../../kit/copy.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.profile;

/** Recovery codes, shown once. */
export const RecoveryCodesDialog = ({ codes, onClose }: { codes: readonly string[]; onClose(): void }) => (
  <Dialog
    isOpen
    isModalOnly
    onClose={onClose}
    title={own.codesTitle}
    about={own.codesAbout}
    footer={
      <Button kind="primary" onClick={onClose}>
        {own.codesDone}
      </Button>
    }
  >
    <ul className="grid grid-cols-2 gap-2">
      {codes.map(code => (
        <li key={code}>
          <code className="font-mono">{code}</code>
        </li>
      ))}
    </ul>
    <CopyButton text={codes.join('\n')} />
  </Dialog>
);
