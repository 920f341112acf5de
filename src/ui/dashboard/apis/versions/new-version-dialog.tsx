import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../../kit/button.tsx';
import { toBodyOf } from '../../../kit/calls.ts';
import { Dialog } from '../../../kit/dialog.tsx';
import { Checkbox, TextField } from '../../../kit/field.tsx';
import { useWrite } from '../../../kit/queries.ts';
import { ErrorText } from '../../../kit/states.tsx';
import { useToasts } from '../../../kit/toast.tsx';
import { versionTexts } from '../../../texts/en/versions.ts';
import { texts } from '../../../texts/texts.ts';
import type { LoadedApi } from '../api-frame.tsx';
import { describeApplied } from '../applied.ts';
import { copyAsVersion } from './copy-version.ts';

const own = versionTexts;

interface NewVersionProps {
  readonly isOpen: boolean;
  readonly loaded: LoadedApi;
  /** Version name of the base; empty before its first version. */
  readonly baseName: string;
  onClose(): void;
}

function useVersionFields(baseName: string) {
  const [name, setName] = useState('');
  const [ownName, setOwnName] = useState(baseName || 'v1');
  const [isDefault, setDefault] = useState(false);
  return { name, setName, ownName, setOwnName, isDefault, setDefault };
}

/** A new version begins as a copy of the API, with a listen path of its own. */
export function NewVersionDialog({ isOpen, loaded, baseName, onClose }: NewVersionProps) {
  const form = useId();
  const toasts = useToasts();
  const fields = useVersionFields(baseName);
  const { name, setName, ownName, isDefault } = fields;
  const { mutate, error, isPending } = useWrite('POST /api/apis/oas', [
    'GET /api/apis',
    'GET /api/apis/{apiId}',
    'GET /api/apis/oas/{apiId}/versions',
  ]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const query = {
      base_api_id: loaded.api.id,
      base_api_version_name: baseName || ownName,
      new_version_name: name,
      set_default: isDefault ? ('true' as const) : ('false' as const),
    };
    mutate(
      {
        given: { query, body: toBodyOf<'POST /api/apis/oas'>(copyAsVersion(loaded, name)) },
        options: { wait: 'applied' },
      },
      {
        onSuccess: ({ headers }) => {
          toasts.showSuccess(`${own.created(name)}. ${describeApplied(headers)}`);
          setName('');
          onClose();
        },
      },
    );
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={own.create}
      about={own.createAbout}
      footer={
        <>
          <Button onClick={onClose}>{texts.kit.cancel}</Button>
          <Button kind="primary" type="submit" form={form} isBusy={isPending} disabled={name.trim() === ''}>
            {own.createAction}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-4">
        <ErrorText error={error} />
        <VersionFields {...fields} hasBaseName={baseName !== ''} />
      </form>
    </Dialog>
  );
}

type VersionFieldsProps = ReturnType<typeof useVersionFields> & { readonly hasBaseName: boolean };

function VersionFields(fields: VersionFieldsProps) {
  const { name, setName, ownName, setOwnName, isDefault, setDefault, hasBaseName } = fields;
  return (
    <>
      <TextField
        label={own.name}
        required
        maxLength={200}
        isMono
        value={name}
        onChange={it => setName(it.target.value)}
      />
      {!hasBaseName && (
        <TextField
          label={own.baseName}
          required
          isMono
          help={own.baseNameHelp}
          value={ownName}
          onChange={it => setOwnName(it.target.value)}
        />
      )}
      <Checkbox label={own.setDefault} checked={isDefault} onChange={it => setDefault(it.target.checked)} />
    </>
  );
}
