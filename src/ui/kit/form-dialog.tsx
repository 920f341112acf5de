import { type FormEvent, useId } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { Button } from './button.tsx';
import { Dialog, type DialogProps } from './dialog.tsx';
import { ErrorText } from './states.tsx';

export interface FormDialogProps extends Pick<DialogProps, 'title' | 'about' | 'children' | 'width' | 'onClose'> {
  /** Text of the button that submits; without one there is nothing left to submit. */
  readonly action?: string | undefined;
  /** Text of the button that closes; default Cancel. */
  readonly closeText?: string;
  readonly error?: Error | null | undefined;
  readonly isBusy?: boolean;
  /** False where a required field is empty or wrong. */
  readonly canSubmit?: boolean;
  onSubmit(): void;
}

/** Dialog with a form: a refused write leaves it open with the error above its fields. */
export function FormDialog({
  action,
  closeText = sharedTexts.kit.cancel,
  error,
  isBusy = false,
  canSubmit = true,
  onSubmit,
  ...dialog
}: FormDialogProps) {
  const form = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (canSubmit && !isBusy) onSubmit();
  };
  return (
    <Dialog
      {...dialog}
      isOpen
      footer={
        <>
          <Button onClick={dialog.onClose}>{closeText}</Button>
          {action !== undefined && (
            <Button kind="primary" type="submit" form={form} isBusy={isBusy} disabled={!canSubmit}>
              {action}
            </Button>
          )}
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-4">
        <ErrorText error={error} />
        {dialog.children}
      </form>
    </Dialog>
  );
}
