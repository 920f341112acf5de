import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { callServer, toBodyOf } from '../../../kit/calls.ts';
import { TextField } from '../../../kit/field.tsx';
import { FormDialog } from '../../../kit/form-dialog.tsx';
import { useWrite } from '../../../kit/queries.ts';
import { useToasts } from '../../../kit/toast.tsx';
import { apiListTexts } from '../../../texts/en/api-list.ts';
import { texts } from '../../../texts/texts.ts';
import { type ApiOutline, toApiOutline } from '../api-outline.ts';
import { describeApplied } from '../applied.ts';
import { toListenPath } from '../new-api.ts';
import { copyApi, type Owners, readOwners } from './copy-api.ts';

const own = apiListTexts.duplicate;
const refreshed = ['GET /api/apis', 'GET /api/apis/categories'] as const;
const options = { wait: 'applied' } as const;

/** Creates a copy of an API with an id, a name and a listen path of its own, and opens it. */
export function DuplicateApiDialog({ api, onClose }: { api: ApiOutline; onClose(): void }) {
  const [name, setName] = useState(own.nameOf(api.name || api.id));
  const [path, setPath] = useState<string>();
  const listenPath = path ?? toListenPath(name);
  const { run, error, isPending } = useDuplication(api, onClose);
  return (
    <FormDialog
      title={own.title(api.name || api.id)}
      about={own.about}
      action={own.action}
      error={error}
      isBusy={isPending}
      canSubmit={name.trim() !== '' && listenPath.startsWith('/')}
      onSubmit={() => run(name.trim(), listenPath)}
      onClose={onClose}
    >
      <TextField label={texts.apis.name} required value={name} onChange={it => setName(it.target.value)} />
      <TextField
        label={texts.apis.listenPath}
        required
        isMono
        value={listenPath}
        onChange={it => setPath(it.target.value)}
      />
    </FormDialog>
  );
}

/** Gives a copy the owners of its API; a copy that cannot have them is removed. */
function useOwnersCopy() {
  const { mutateAsync } = useWrite('PUT /api/apis/{apiId}/access', refreshed);
  return async (apiId: string, { user_owners: userIds, user_group_owners: userGroupIds }: Owners) => {
    if (userIds.length + userGroupIds.length === 0) return;
    try {
      await mutateAsync({ given: { params: { apiId }, body: { userIds, userGroupIds } } });
    } catch (error) {
      await callServer('DELETE /api/apis/{apiId}', { params: { apiId } });
      throw error;
    }
  };
}

function useDuplication({ id }: ApiOutline, onClose: () => void) {
  const toasts = useToasts();
  const navigate = useNavigate();
  const [readError, setReadError] = useState<Error>();
  const document = useWrite('POST /api/apis/oas', refreshed);
  const classic = useWrite('POST /api/apis', refreshed);
  const streams = useWrite('POST /api/apis/streams', refreshed);
  const giveOwners = useOwnersCopy();
  const create = async (name: string, listenPath: string) => {
    // The stored API, not a row of the list: the row may be older.
    const { value } = await callServer('GET /api/apis/{apiId}', { params: { apiId: id } });
    const body = copyApi(value, { name, listenPath });
    const { format } = toApiOutline(value);
    if (format === 'classic')
      return classic.mutateAsync({ given: { body: toBodyOf<'POST /api/apis'>(body) }, options });
    const created =
      format === 'oas'
        ? await document.mutateAsync({ given: { body: toBodyOf<'POST /api/apis/oas'>(body) }, options })
        : await streams.mutateAsync({ given: { body: toBodyOf<'POST /api/apis/streams'>(body) }, options });
    await giveOwners(created.value.ID, readOwners(value));
    return created;
  };
  const run = (name: string, listenPath: string) =>
    void create(name, listenPath).then(({ value, headers }) => {
      toasts.showSuccess(`${texts.apis.created(name)}. ${describeApplied(headers)}`);
      onClose();
      void navigate({ to: '/apis/$apiId', params: { apiId: value.ID } });
    }, setReadError);
  return { run, error: readError, isPending: document.isPending || classic.isPending || streams.isPending };
}
