import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ReadRoute } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { useReload } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';

const own = adminTexts.forms;

export interface FileUploadDialogProps {
  readonly title: string;
  readonly about: string;
  /** Label of the input. */
  readonly label: string;
  /** Extensions or media types of the input, separated by commas. */
  readonly accept: string;
  /** Verb and object. */
  readonly action: string;
  /** Text after the upload. */
  readonly done: string;
  readonly reads: readonly ReadRoute[];
  send(file: File): Promise<unknown>;
  onClose(): void;
}

/** Uploads one file; the server checks its content, and the dialog shows what is wrong. */
export function FileUploadDialog({
  title,
  about,
  label,
  accept,
  action,
  done,
  reads,
  send,
  onClose,
}: FileUploadDialogProps) {
  const [file, setFile] = useState<File>();
  const [fault, setFault] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const reload = useReload(reads);
  const toasts = useToasts();
  const upload = async () => {
    if (!file) return setFault(new Error(own.fileMissing));
    setBusy(true);
    try {
      await send(file);
      await reload();
      toasts.showSuccess(done);
      onClose();
    } catch (error) {
      setFault(error instanceof Error ? error : new Error(String(error)));
      setBusy(false);
    }
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      about={about}
      footer={
        <>
          <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
          <Button kind="primary" isBusy={isBusy} onClick={() => void upload()}>
            {action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ErrorText error={fault} />
        <TextField
          label={label}
          type="file"
          accept={accept}
          className="py-1"
          onChange={event => setFile(event.target.files?.[0])}
        />
      </div>
    </Dialog>
  );
}
