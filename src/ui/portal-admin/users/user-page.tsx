import { useNavigate, useParams } from '@tanstack/react-router';
import { MailPlus, ShieldOff } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { DualList } from '../../kit/dual-list.tsx';
import { Checkbox } from '../../kit/field.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import type { Draft } from '../../kit/use-draft.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm, type RecordValue } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { useOrganisationItems } from '../lists/reference-items.ts';
import { UserAttributes } from './user-attributes.tsx';
import { UserStatePill } from './user-state-pill.tsx';

const own = adminTexts.users;
type UserWrite = ArgumentsOf<'POST /portal-api/users'>['body'];
type PortalUser = ResultOf<'GET /portal-api/users/{user_id}'>;
type UserChange = ArgumentsOf<'PUT /portal-api/users/{user_id}'>['body'];
const refreshed = ['GET /portal-api/users', 'GET /portal-api/users/{user_id}'] as const;
const isDeveloper = ({ Role }: RecordValue) => Role === 'consumer-admin' || Role === 'consumer-team-member';

const createSections = (organisations: readonly PickItem[], isNew: boolean): readonly FormSection[] => [
  {
    title: own.details,
    fields: [
      { name: 'Email', label: own.columns.email, kind: 'mail', isRequired: true },
      { name: 'First', label: own.first },
      { name: 'Last', label: own.last },
      {
        name: 'Role',
        label: own.columns.role,
        help: own.roleHelp,
        kind: 'select',
        options: Object.entries(own.roles).map(([value, label]) => ({ value, label })),
      },
      {
        name: 'OrganisationID',
        label: own.columns.organisation,
        kind: 'select',
        options: organisations.map(({ id, name }) => ({ value: id, label: name })),
        isShown: isDeveloper,
      },
      { name: 'Active', label: own.activeLabel, help: own.activeHelp, kind: 'switch' },
      { name: 'Password', label: own.password, help: isNew ? own.newPasswordHelp : own.passwordHelp, kind: 'secret' },
      { name: 'ResetPassword', label: own.reset, help: own.resetHelp, kind: 'switch' },
    ],
  },
];

export function NewPortalUserPage() {
  const navigate = useNavigate();
  const { items: organisations } = useOrganisationItems();
  const create = useWrite('POST /portal-api/users', refreshed);
  const stored = {
    Email: '',
    First: '',
    Last: '',
    Role: 'consumer-admin',
    OrganisationID: '1',
    Active: true,
    Password: '',
    ResetPassword: false,
  };
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={stored}
        sections={createSections(organisations ?? [], true)}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        onSave={async (draft, _changes, accept) => {
          const { OrganisationID, ...rest } = draft;
          const body = { ...rest, ...(isDeveloper(draft) ? { OrganisationID: Number(OrganisationID) } : {}) };
          const { value } = await create.mutateAsync({ given: { body: body as UserWrite } });
          accept();
          await navigate({ to: '/admin/users/$userId', params: { userId: String(value.ID) }, ignoreBlocker: true });
        }}
      />
    </PageFrame>
  );
}

/** Teams of a developer, of the organisation in the draft. */
function UserTeams({ draft: { value, change } }: { draft: Draft<RecordValue> }) {
  const organisation_id = String(value.OrganisationID ?? '');
  const { data } = useOperation(
    'GET /portal-api/organisations/{organisation_id}/teams',
    { params: { organisation_id }, query: { per_page: 1000 } },
    { enabled: isDeveloper(value) && organisation_id !== '0' },
  );
  if (!isDeveloper(value)) return null;
  const items = (data?.value ?? []).map(({ ID, Name }) => ({ id: String(ID), name: Name }));
  const ids = (value.Teams ?? []) as readonly number[];
  return (
    <Card title={own.teams}>
      <DualList
        title={own.teams}
        searchLabel={own.searchTeams}
        items={items}
        chosen={items.filter(({ id }) => ids.includes(Number(id)))}
        onChange={chosen => change({ Teams: chosen.map(({ id }) => Number(id)) })}
      />
    </Card>
  );
}

/** Mails a link to set the first password; the server refuses it for an account that has one. */
function SendInviteButton({ userId }: { userId: string }) {
  const send = useWrite('PUT /portal-api/users/{user_id}/send_invite', ['GET /portal-api/invitations']);
  const toasts = useToasts();
  const run = () =>
    send.mutate(
      { given: { params: { user_id: userId } } },
      {
        onSuccess: () => toasts.showSuccess(adminTexts.invitations.sent),
        onError: error => toasts.showError(error.message),
      },
    );
  return (
    <Button icon={MailPlus} isBusy={send.isPending} onClick={run}>
      {adminTexts.invitations.sendInvite}
    </Button>
  );
}

/** Removes the authenticator app of a user who lost it. */
function RemoveFactorButton({ user: { ID, Email } }: { user: PortalUser }) {
  const [isOpen, setOpen] = useState(false);
  const remove = useWrite('DELETE /portal-api/users/{user_id}/second-factor', refreshed);
  const toasts = useToasts();
  const run = () =>
    remove.mutate(
      { given: { params: { user_id: String(ID) } } },
      {
        onSuccess: () => toasts.showSuccess(own.factorRemoved),
        onError: error => toasts.showError(error.message),
        onSettled: () => setOpen(false),
      },
    );
  return (
    <>
      <Button icon={ShieldOff} onClick={() => setOpen(true)}>
        {own.removeFactor}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        tier={2}
        title={own.removeFactorOf(Email)}
        consequence={own.removeFactorConsequence}
        action={own.removeFactor}
        isBusy={remove.isPending}
        onConfirm={run}
        onClose={() => setOpen(false)}
      />
    </>
  );
}

function UserActions({ user }: { user: PortalUser }) {
  const { ID, Email, SecondFactor } = user;
  const [isForced, setForced] = useState(false);
  const remove = useWrite('DELETE /portal-api/users/{user_id}', ['GET /portal-api/users', 'GET /portal-api/apps']);
  return (
    <>
      <SendInviteButton userId={String(ID)} />
      {SecondFactor && <RemoveFactorButton user={user} />}
      <DeleteButton
        label={adminTexts.forms.delete}
        action={own.deleteAction(Email)}
        name={Email}
        tier={4}
        consequence={own.deleteConsequence}
        list="/admin/users"
        done={own.deleted}
        remove={() => remove.mutateAsync({ given: { params: { user_id: String(ID) }, query: { force: isForced } } })}
        choice={
          <Checkbox
            label={own.force}
            help={own.forceHelp}
            checked={isForced}
            onChange={event => setForced(event.target.checked)}
          />
        }
      />
    </>
  );
}

export function PortalUserPage() {
  const { userId } = useParams({ from: '/shell/admin/users/$userId' });
  const params = { user_id: userId };
  const read = useOperation('GET /portal-api/users/{user_id}', { params });
  const { items: organisations } = useOrganisationItems();
  const save = useWrite('PUT /portal-api/users/{user_id}', refreshed);
  const toasts = useToasts();
  const user = read.data?.value;
  if (!user)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Email, First, Last, Role, Active, ResetPassword } = user;
  const stored = {
    ...{ Email, First, Last, Role, Active, ResetPassword },
    OrganisationID: String(user.OrganisationID),
    Password: '',
    Teams: user.Teams.map(({ ID }) => ID),
  };
  return (
    <PageFrame
      title={Email}
      width="form"
      status={<UserStatePill state={user.State} />}
      about={`${own.columns.lastSignIn}: ${user.LastSignInAt || own.never}`}
      actions={<UserActions user={user} />}
    >
      <RecordForm
        key={userId}
        stored={stored}
        sections={createSections(organisations ?? [], false)}
        action={own.save}
        isBusy={save.isPending}
        error={save.error}
        renderMore={draft => <UserTeams draft={draft} />}
        onSave={async (_draft, { OrganisationID, ...changes }, accept) => {
          const moved = OrganisationID === undefined ? {} : { OrganisationID: Number(OrganisationID) };
          await save.mutateAsync({ given: { params, body: { ...changes, ...moved } as UserChange } });
          accept();
          toasts.showSuccess(adminTexts.forms.saved(Email));
        }}
      />
      <div className="mt-4">
        <UserAttributes userId={userId} />
      </div>
    </PageFrame>
  );
}
