import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { sharedTexts } from '../../texts/shared-texts.ts';

export interface ObjectNameDialogProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly label: string;
  readonly action: string;
  readonly initial?: string;
  readonly isBusy: boolean;
  readonly error: Error | null;
  onSave(name: string): Promise<unknown>;
  onClose(): void;
}

/** Creates or renames an object that has nothing but a name. A refused write leaves the dialog open. */
export function NameDialog({
  isOpen,
  title,
  label,
  action,
  isBusy,
  error,
  onSave,
  onClose,
  ...rest
}: ObjectNameDialogProps) {
  const [name, setName] = useState(rest.initial ?? '');
  return (
    <Dialog isOpen={isOpen} title={title} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault();
          onSave(name.trim()).then(onClose, () => undefined);
        }}
      >
        <ErrorText error={error} />
        <TextField label={label} required value={name} onChange={event => setName(event.target.value)} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={name.trim() === ''}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
