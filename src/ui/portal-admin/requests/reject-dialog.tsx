import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { TextAreaField } from '../../kit/field.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';

const own = adminTexts.requests;
const maxReasonChars = 2000;

export interface RejectDialogProps {
  /** Number of requests that are rejected. */
  readonly count: number;
  readonly isBusy: boolean;
  onReject(reason: string): Promise<unknown>;
  onClose(): void;
}

/** Asks for the reason of a rejection: developers see it on the page of their app and in a mail. */
export function RejectDialog({ count, isBusy, onReject, onClose }: RejectDialogProps) {
  const [reason, setReason] = useState('');
  return (
    <Dialog isOpen title={own.rejectTitle(count)} about={own.rejectConsequence} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault();
          void onReject(reason.trim());
        }}
      >
        <TextAreaField
          label={own.reason}
          help={own.reasonHelp}
          required
          maxLength={maxReasonChars}
          value={reason}
          onChange={event => setReason(event.target.value)}
        />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
          <Button kind="danger" type="submit" isBusy={isBusy} disabled={reason.trim() === ''}>
            {own.rejectMany(count)}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
