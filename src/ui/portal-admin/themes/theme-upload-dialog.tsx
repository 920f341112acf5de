import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { uploadFile } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { useReload } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';

const own = adminTexts.themes;

/** Uploads a ZIP archive; the server checks every file and says what is wrong. */
export function ThemeUploadDialog({ onClose }: { onClose(): void }) {
  const [file, setFile] = useState<File>();
  const [fault, setFault] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const reload = useReload(['GET /portal-api/themes']);
  const toasts = useToasts();
  const upload = async () => {
    if (!file) return setFault(new Error(own.fileMissing));
    setBusy(true);
    try {
      await uploadFile('POST /portal-api/themes/upload', file);
      await reload();
      toasts.showSuccess(own.uploaded);
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
      title={own.uploadTitle}
      about={own.uploadAbout}
      footer={
        <>
          <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
          <Button kind="primary" isBusy={isBusy} onClick={() => void upload()}>
            {own.upload}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ErrorText error={fault} />
        <TextField
          label={own.file}
          type="file"
          accept=".zip"
          className="py-1"
          onChange={event => setFile(event.target.files?.[0])}
        />
      </div>
    </Dialog>
  );
}
