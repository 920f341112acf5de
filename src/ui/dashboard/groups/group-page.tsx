import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type FormEvent, useMemo, useState } from 'react';
import { Button, buttonClass } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { ListPaging } from '../../kit/data-table.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { SaveBar } from '../../kit/save-bar.tsx';
import { ErrorText, QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { useDraft } from '../../kit/use-draft.ts';
import { texts } from '../../texts/texts.ts';
import { ConflictDialog, isConflict } from '../forms/conflict-dialog.tsx';
import { HistoryLink } from '../history/history-link.tsx';
import { usePermission } from '../session/session.ts';
import { DeleteGroupDialog } from './delete-group-dialog.tsx';
import { emptyGroup, findGroupFaults, type GroupBody, GroupFields } from './group-fields.tsx';

const own = texts.groups;
type GroupData = ResultOf<'GET /api/usergroups/{groupId}'>;
const refreshed = ['GET /api/usergroups', 'GET /api/usergroups/{groupId}'] as const;

const toBody = ({ name, description, active, password_max_days, user_permissions }: GroupData): GroupBody => ({
  name,
  description,
  active,
  password_max_days,
  user_permissions: user_permissions as GroupBody['user_permissions'],
});

/** One group: details, permissions, members. */
export function GroupPage() {
  const { groupId } = useParams({ from: '/shell/user-groups/$groupId' });
  const canWrite = usePermission('user_groups:write');
  const canSeeUsers = usePermission('users');
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const query = useOperation('GET /api/usergroups/{groupId}', { params: { groupId } });
  if (!query.data) return <QueryState query={query} />;
  const { value, etag } = query.data;
  return (
    <PageFrame
      title={value.name}
      actions={
        <>
          <HistoryLink kind="usergroups" id={groupId} name={value.name} />
          {canWrite && <Button onClick={() => setDeleting(true)}>{own.delete}</Button>}
        </>
      }
    >
      <div className="grid items-start gap-4 min-[1280px]:grid-cols-[minmax(0,800px)_minmax(280px,1fr)]">
        <GroupForm key={groupId} group={value} etag={etag} canWrite={canWrite} />
        {canSeeUsers && <Members groupId={groupId} />}
      </div>
      <DeleteGroupDialog
        group={isDeleting ? value : undefined}
        onClose={() => setDeleting(false)}
        onDeleted={() => void navigate({ to: '/user-groups' })}
      />
    </PageFrame>
  );
}

interface GroupFormProps {
  readonly group: GroupData;
  readonly etag: string | undefined;
  readonly canWrite: boolean;
}

function GroupForm({ group, etag, canWrite }: GroupFormProps) {
  const toasts = useToasts();
  const draft = useDraft(
    useMemo(() => toBody(group), [group]),
    etag,
  );
  const { mutate, error, isPending, reset } = useWrite('PUT /api/usergroups/{groupId}', refreshed);
  const faults = findGroupFaults(draft.value);
  const save = (isForced: boolean) =>
    mutate(
      {
        given: { params: { groupId: group.id }, body: draft.value },
        options: { ifMatch: isForced ? undefined : draft.etag },
      },
      {
        onSuccess: () => {
          draft.accept();
          toasts.showSuccess(own.saved(draft.value.name));
        },
      },
    );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (Object.keys(faults).length === 0) save(false);
  };
  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-4">
      <ErrorText error={isConflict(error) ? null : error} />
      <GroupFields value={draft.value} change={draft.change} faults={faults} isDisabled={!canWrite} />
      {canWrite && <SaveBar isDirty={draft.isDirty} isBusy={isPending} action={own.save} onDiscard={draft.discard} />}
      <ConflictDialog error={error} draft={draft} reads={refreshed} onClose={reset} onOverwrite={() => save(true)} />
    </form>
  );
}

function Members({ groupId }: { groupId: string }) {
  const [p, setPage] = useState(1);
  const given = { params: { groupId }, query: { p } };
  const query = useOperation('GET /api/usergroups/{groupId}/users', given, { keepPrevious: true });
  return (
    <Card title={own.members}>
      {!query.data && <QueryState query={query} lines={2} />}
      {query.data?.value.users.length === 0 && <p className="text-dim">{own.noMembers}</p>}
      <ul className="flex flex-col gap-1">
        {query.data?.value.users.map(({ id, email_address }) => (
          <li key={id}>
            <Link to="/users/$userId" params={{ userId: id }} className="row-link break-all">
              {email_address}
            </Link>
          </li>
        ))}
      </ul>
      <ListPaging page={p} pages={query.data?.value.pages ?? 1} onPage={setPage} />
    </Card>
  );
}

export function NewGroupPage() {
  const navigate = useNavigate();
  const toasts = useToasts();
  const [value, setValue] = useState(emptyGroup);
  const [isChecked, setChecked] = useState(false);
  const { mutate, error, isPending } = useWrite('POST /api/usergroups', refreshed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (Object.keys(findGroupFaults(value)).length > 0) return;
    mutate(
      { given: { body: value } },
      {
        onSuccess: ({ value: created }) => {
          toasts.showSuccess(own.created(value.name));
          void navigate({ to: '/user-groups/$groupId', params: { groupId: String(created.Meta) } });
        },
      },
    );
  };
  return (
    <PageFrame title={own.newTitle} width="form">
      <form noValidate onSubmit={submit} className="flex max-w-[800px] flex-col gap-4">
        <ErrorText error={error} />
        <GroupFields
          value={value}
          change={some => setValue({ ...value, ...some })}
          faults={isChecked ? findGroupFaults(value) : {}}
          isDisabled={false}
        />
        <div className="flex justify-end gap-2">
          <Link to="/user-groups" className={buttonClass()}>
            {texts.kit.cancel}
          </Link>
          <Button kind="primary" type="submit" isBusy={isPending}>
            {own.createAction}
          </Button>
        </div>
      </form>
    </PageFrame>
  );
}
