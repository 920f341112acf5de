import { useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { callServer } from '../../../kit/calls.ts';
import { FormDialog } from '../../../kit/form-dialog.tsx';
import { type PickItem, PickList } from '../../../kit/pick-list.tsx';
import { useOperation, useWrite } from '../../../kit/queries.ts';
import { QueryState } from '../../../kit/states.tsx';
import { useToasts } from '../../../kit/toast.tsx';
import { apiListTexts } from '../../../texts/en/api-list.ts';
import type { ApiOutline } from '../api-outline.ts';

const own = apiListTexts.access;
const refreshed = ['GET /api/apis', 'GET /api/apis/{apiId}', 'GET /api/apis/{apiId}/access'] as const;
/** Owners whose names are read; the others appear by id. */
const maxNamedOwners = 50;

interface OwnersProps {
  readonly api: ApiOutline;
  onClose(): void;
}

interface Owners {
  readonly users: readonly PickItem[];
  readonly groups: readonly PickItem[];
  /** Of the read that the edits are based on. */
  readonly etag: string | undefined;
}

/** Users and groups that own an API. One dialog also while they load: a second one would lose where the focus was. */
export function OwnersDialog({ api, onClose }: OwnersProps) {
  const access = useOperation('GET /api/apis/{apiId}/access', { params: { apiId: api.id } });
  const names = useOwnerNames(access.data?.value.userIds ?? []);
  const [owners, setOwners] = useState<Owners>();
  const save = useOwnersSave(api, onClose);
  if (!owners && access.data && names) {
    const toItem = (id: string) => ({ id, name: names.get(id) ?? id });
    const { userIds, userGroupIds } = access.data.value;
    setOwners({ users: userIds.map(toItem), groups: userGroupIds.map(toItem), etag: access.data.etag });
  }
  return (
    <FormDialog
      title={own.title(api.name || api.id)}
      about={own.about}
      action={own.action}
      error={save.error}
      isBusy={save.isPending}
      canSubmit={owners !== undefined}
      onSubmit={() => owners && save.run(owners)}
      onClose={onClose}
    >
      {owners ? (
        <>
          <PickList
            {...own.users}
            chosen={owners.users}
            onChange={users => setOwners({ ...owners, users })}
            useItems={useUserItems}
          />
          <PickList
            {...own.groups}
            chosen={owners.groups}
            onChange={groups => setOwners({ ...owners, groups })}
            useItems={useGroupItems}
          />
        </>
      ) : (
        <QueryState query={access} />
      )}
    </FormDialog>
  );
}

function useOwnersSave(api: ApiOutline, onClose: () => void) {
  const toasts = useToasts();
  const { mutate, error, isPending } = useWrite('PUT /api/apis/{apiId}/access', refreshed);
  const run = ({ users, groups, etag }: Owners) => {
    const body = { userIds: users.map(({ id }) => id), userGroupIds: groups.map(({ id }) => id) };
    const onSuccess = () => {
      toasts.showSuccess(own.saved(api.name || api.id));
      onClose();
    };
    mutate({ given: { params: { apiId: api.id }, body }, options: { ifMatch: etag } }, { onSuccess });
  };
  return { run, error, isPending };
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
