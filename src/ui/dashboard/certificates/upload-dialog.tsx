import { useNavigate } from '@tanstack/react-router';
import { type ChangeEvent, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { toBodyOf } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { TextAreaField, TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.certificates;
const pemType = 'application/x-pem-file';

/** PEM of a file or pasted; the server checks chain, key and dates, and answers what is wrong. */
export function UploadDialog({ onClose }: { onClose(): void }) {
  const navigate = useNavigate();
  const toasts = useToasts();
  const finish = (certId: string) => {
    toasts.showSuccess(own.uploaded);
    onClose();
    void navigate({ to: '/certificates/$certId', params: { certId } });
  };
  return (
    <PemDialog
      title={own.uploadTitle}
      about={own.uploadAbout}
      action={own.uploadAction}
      onUploaded={finish}
      onClose={onClose}
    />
  );
}

export interface PemDialogProps {
  readonly title: string;
  readonly about: string;
  readonly action: string;
  /** Work after the upload goes on. */
  readonly isBusy?: boolean;
  onUploaded(certId: string): void;
  onClose(): void;
}

/** Uploads a certificate, then hands out its id. */
export function PemDialog({ title, about, action, isBusy = false, onUploaded, onClose }: PemDialogProps) {
  const [pem, setPem] = useState('');
  const [fault, setFault] = useState<Error>();
  const { mutate, error, isPending } = useWrite('POST /api/certs', ['GET /api/certs']);
  const read = async ({ target }: ChangeEvent<HTMLInputElement>) => setPem((await target.files?.[0]?.text()) ?? '');
  const upload = () => {
    setFault(pem.trim() ? undefined : new Error(own.pemMissing));
    if (!pem.trim()) return;
    mutate(
      { given: { body: toBodyOf<'POST /api/certs'>(pem), contentType: pemType }, options: { wait: 'applied' } },
      {
        onSuccess: ({ value }) => onUploaded(value.id),
      },
    );
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      about={about}
      footer={
        <>
          <Button onClick={onClose}>{texts.kit.cancel}</Button>
          <Button kind="primary" isBusy={isPending || isBusy} onClick={upload}>
            {action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ErrorText error={fault ?? error} />
        <TextField label={own.file} type="file" accept=".pem,.crt,.cer,.key" className="py-1" onChange={read} />
        <TextAreaField
          label={own.pem}
          help={own.pemHelp}
          rows={8}
          spellCheck={false}
          autoComplete="off"
          className="font-mono"
          value={pem}
          onChange={event => setPem(event.target.value)}
        />
      </div>
    </Dialog>
  );
}
