import { useState } from 'react';
import { callServer, type ResultOf, toBodyOf } from '../../../kit/calls.ts';
import { CodeDiff } from '../../../kit/code-editor.tsx';
import { Dialog } from '../../../kit/dialog.tsx';
import { TextField } from '../../../kit/field.tsx';
import { FormDialog } from '../../../kit/form-dialog.tsx';
import { fromLocalTime, toLocalTime } from '../../../kit/local-time.ts';
import { useOperation, useWrite } from '../../../kit/queries.ts';
import { QueryState } from '../../../kit/states.tsx';
import { useToasts } from '../../../kit/toast.tsx';
import { versionChangeTexts } from '../../../texts/en/version-changes.ts';
import { type FormObject, toJsonObject } from '../form/json-members.ts';
import { readExpiry, renameVersion, withExpiration } from './version-changes.ts';

const own = versionChangeTexts;
const refreshed = ['GET /api/apis', 'GET /api/apis/{apiId}', 'GET /api/apis/oas/{apiId}/versions'] as const;

export type ListedVersion = ResultOf<'GET /api/apis/oas/{apiId}/versions'>['apis'][number];

/** Reads a document, changes it and writes it back; a write in between makes the server refuse it. */
function useDocumentChange(onClose: () => void) {
  const toasts = useToasts();
  const [error, setError] = useState<Error>();
  const { mutateAsync, isPending } = useWrite('PUT /api/apis/oas/{apiId}', refreshed);
  const change = async (apiId: string, edit: (document: FormObject) => unknown) => {
    const { value, etag } = await callServer('GET /api/apis/{apiId}', { params: { apiId } });
    const body = toBodyOf<'PUT /api/apis/oas/{apiId}'>(edit(toJsonObject(value.oas)));
    await mutateAsync({ given: { params: { apiId }, body }, options: { wait: 'applied', ifMatch: etag } });
  };
  const run = (apiId: string, edit: (document: FormObject) => unknown, done: string) =>
    void change(apiId, edit).then(() => {
      toasts.showSuccess(done);
      onClose();
    }, setError);
  return { run, error, isPending };
}

interface VersionDialogProps {
  readonly version: ListedVersion;
  onClose(): void;
}

interface RenameProps extends VersionDialogProps {
  readonly baseId: string;
  readonly names: readonly string[];
}

/** Another name of a version, which requests use from then on. */
export function RenameVersionDialog({ version: { versionName }, baseId, names, onClose }: RenameProps) {
  const { run, error, isPending } = useDocumentChange(onClose);
  const [name, setName] = useState(versionName);
  const wanted = name.trim();
  const isTaken = wanted !== versionName && names.includes(wanted);
  return (
    <FormDialog
      title={own.renameTitle(versionName)}
      about={own.renameAbout(versionName)}
      action={own.renameAction}
      isBusy={isPending}
      canSubmit={wanted !== '' && wanted !== versionName && !isTaken}
      error={error}
      onSubmit={() => run(baseId, it => renameVersion(it, versionName, wanted), own.renamed(versionName, wanted))}
      onClose={onClose}
    >
      <TextField
        label={own.name}
        required
        isMono
        maxLength={200}
        error={isTaken ? own.nameTaken : undefined}
        value={name}
        onChange={it => setName(it.target.value)}
      />
    </FormDialog>
  );
}

/** Time after which requests of a version are refused. */
export function RetireVersionDialog({ version, onClose }: VersionDialogProps) {
  const { run, error, isPending } = useDocumentChange(onClose);
  const [time, setTime] = useState(toLocalTime(readExpiry(version.expirationDate)));
  const seconds = fromLocalTime(time);
  return (
    <FormDialog
      title={own.retireTitle(version.versionName)}
      about={own.retireAbout}
      action={own.retireAction}
      isBusy={isPending}
      error={error}
      onSubmit={() => run(version.id, it => withExpiration(it, seconds), own.retired(version.versionName))}
      onClose={onClose}
    >
      <TextField
        label={own.retireAt}
        type="datetime-local"
        help={own.retireHelp}
        value={time}
        onChange={it => setTime(it.target.value)}
      />
    </FormDialog>
  );
}

/** Differences of the documents of two versions. */
export function CompareVersionsDialog(props: { versions: readonly [ListedVersion, ListedVersion]; onClose(): void }) {
  const [one, other] = props.versions;
  const title = own.comparison(one.versionName, other.versionName);
  const left = useOperation('GET /api/apis/{apiId}', { params: { apiId: one.id } });
  const right = useOperation('GET /api/apis/{apiId}', { params: { apiId: other.id } });
  const toText = (value: { readonly oas?: unknown }) => JSON.stringify(value.oas, null, 2);
  return (
    <Dialog isOpen onClose={props.onClose} title={title} about={own.comparisonAbout} width="wide">
      {left.data && right.data ? (
        <CodeDiff label={title} before={toText(left.data.value)} after={toText(right.data.value)} />
      ) : (
        <QueryState query={left.data ? right : left} />
      )}
    </Dialog>
  );
}
