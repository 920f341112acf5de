import { useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../kit/button.tsx';
import { callServer } from '../../../kit/calls.ts';
import { Dialog } from '../../../kit/dialog.tsx';
import { type PickItem, PickList } from '../../../kit/pick-list.tsx';
import { useOperation, useWrite } from '../../../kit/queries.ts';
import { ErrorText, QueryState } from '../../../kit/states.tsx';
import { useToasts } from '../../../kit/toast.tsx';
import { apiListTexts } from '../../../texts/en/api-list.ts';
import { texts } from '../../../texts/texts.ts';
import type { ApiOutline } from '../api-outline.ts';

const own = apiListTexts.access;
const refreshed = ['GET /api/apis', 'GET /api/apis/{apiId}', 'GET /api/apis/{apiId}/access'] as const;
/** Owners whose names are read; the others appear by id. */
const maxNamedOwners = 50;

interface OwnersProps {
  readonly api: ApiOutline;
  onClose(): void;
}

/** Users and groups that own an API. */
export function OwnersDialog({ api, onClose }: OwnersProps) {
  const access = useOperation('GET /api/apis/{apiId}/access', { params: { apiId: api.id } });
  const names = useOwnerNames(access.data?.value.userIds ?? []);
  const title = own.title(api.name || api.id);
  if (!access.data || !names)
    return (
      <Dialog isOpen onClose={onClose} title={title}>
        <QueryState query={access} />
      </Dialog>
    );
  const { userIds, userGroupIds } = access.data.value;
  const users = userIds.map(id => ({ id, name: names.get(id) ?? id }));
  const groups = userGroupIds.map(id => ({ id, name: names.get(id) ?? id }));
  return <OwnersForm api={api} title={title} stored={{ users, groups }} etag={access.data.etag} onClose={onClose} />;
}

/** Names of owners by id; undefined while they are read. Without permission to read them, none is known. */
function useOwnerNames(userIds: readonly string[]): ReadonlyMap<string, string> | undefined {
  const users = useQueries({
    queries: userIds.slice(0, maxNamedOwners).map(userId => ({
      queryKey: ['GET /api/users/{userId}', { params: { userId } }],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        callServer('GET /api/users/{userId}', { params: { userId } }, { signal }),
    })),
  });
  const groups = useOperation('GET /api/usergroups', { query: { p: -1 } });
  if (groups.isPending || users.some(({ isPending }) => isPending)) return undefined;
  return new Map([
    ...(groups.data?.value.groups ?? []).map(({ id, name }) => [id, name] as const),
    ...users.flatMap(({ data }) => (data ? [[data.value.id, data.value.email_address] as const] : [])),
  ]);
}

interface OwnersFormProps extends OwnersProps {
  readonly title: string;
  readonly stored: { readonly users: readonly PickItem[]; readonly groups: readonly PickItem[] };
  readonly etag: string | undefined;
}

function OwnersForm({ api, title, stored, etag, onClose }: OwnersFormProps) {
  const toasts = useToasts();
  const [users, setUsers] = useState(stored.users);
  const [groups, setGroups] = useState(stored.groups);
  const { mutate, error, isPending } = useWrite('PUT /api/apis/{apiId}/access', refreshed);
  const save = () => {
    const body = { userIds: users.map(({ id }) => id), userGroupIds: groups.map(({ id }) => id) };
    const onSuccess = () => {
      toasts.showSuccess(own.saved(api.name || api.id));
      onClose();
    };
    mutate({ given: { params: { apiId: api.id }, body }, options: { ifMatch: etag } }, { onSuccess });
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      about={own.about}
      footer={
        <>
          <Button onClick={onClose}>{texts.kit.cancel}</Button>
          <Button kind="primary" isBusy={isPending} onClick={save}>
            {own.action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ErrorText error={error} />
        <PickList {...own.users} chosen={users} onChange={setUsers} useItems={useUserItems} />
        <PickList {...own.groups} chosen={groups} onChange={setGroups} useItems={useGroupItems} />
      </div>
    </Dialog>
  );
}

/** Without a text the newest users; a text is sent in a body: addresses of people are in no URL. */
function useUserItems(text: string) {
  const all = useOperation('GET /api/users', { query: { p: 1 } }, { enabled: text === '' });
  const found = useQuery({
    queryKey: ['POST /api/users/search', { text, p: 1 }],
    queryFn: ({ signal }) =>
      callServer('POST /api/users/search', { query: { p: 1 }, body: { filters: { query: text } } }, { signal }),
    enabled: text !== '',
  });
  const { data, error } = text === '' ? all : found;
  return { items: data?.value.users.map(({ id, email_address: name }) => ({ id, name })), error };
}

function useGroupItems(q: string) {
  const { data, error } = useOperation('GET /api/usergroups', { query: { q } }, { keepPrevious: true });
  return { items: data?.value.groups.map(({ id, name }) => ({ id, name })), error };
}
