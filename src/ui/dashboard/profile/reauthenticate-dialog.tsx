import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { type Confirmation, ConfirmFields, emptyConfirmation } from './confirm-fields.tsx';

interface ReauthenticateProps {
  readonly title: string;
  readonly action: string;
  readonly needsCode: boolean;
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly children?: ReactNode;
  onConfirm(confirmation: Confirmation): void;
  onClose(): void;
}

/** Asks for the password, and the code, before a change of how the user signs in. */
export function ReauthenticateDialog({
  title,
  action,
  needsCode,
  isBusy,
  error,
  children,
  onConfirm,
  onClose,
}: ReauthenticateProps) {
  const [value, setValue] = useState(emptyConfirmation);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onConfirm(value);
  };
  return (
    <Dialog isOpen onClose={onClose} title={title} about={texts.profile.confirmAbout}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <ErrorText error={error} />
        {children}
        <ConfirmFields value={value} needsCode={needsCode} change={some => setValue({ ...value, ...some })} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{texts.kit.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
