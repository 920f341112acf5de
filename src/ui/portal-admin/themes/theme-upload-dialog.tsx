import { uploadFile } from '../../kit/calls.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { FileUploadDialog } from '../forms/file-upload-dialog.tsx';

const own = adminTexts.themes;

/** Uploads a ZIP archive; the server checks every file and says what is wrong. */
export const ThemeUploadDialog = ({ onClose }: { onClose(): void }) => (
  <FileUploadDialog
    title={own.uploadTitle}
    about={own.uploadAbout}
    label={own.file}
    accept=".zip"
    action={own.upload}
    done={own.uploaded}
    reads={['GET /portal-api/themes']}
    send={file => uploadFile('POST /portal-api/themes/upload', file)}
    onClose={onClose}
  />
);
