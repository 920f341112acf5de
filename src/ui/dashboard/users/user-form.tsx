import { type FormEvent, useMemo } from 'react';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { SelectField, Switch, TextField } from '../../kit/field.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { SaveBar } from '../../kit/save-bar.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { useDraft } from '../../kit/use-draft.ts';
import { texts } from '../../texts/texts.ts';
import { ConflictDialog, isConflict } from '../forms/conflict-dialog.tsx';
import { PermissionTable } from '../groups/permission-table.tsx';
import { usePermission, useSession } from '../session/session.ts';
import { findRole, listGrantableRoles, type RoleName, rolePermissions } from './roles.ts';

const own = texts.users;
const refreshed = ['GET /api/users', 'GET /api/users/{userId}'] as const;
export type UserData = ResultOf<'GET /api/users/{userId}'>;
type PermissionMap = Record<string, 'read' | 'write' | 'deny' | 'admin'>;

/** Members of a write; the e-mail address is changed by its owner only. */
const toUserBody = (user: UserData) => ({
  email_address: user.email_address,
  first_name: user.first_name,
  last_name: user.last_name,
  active: user.active,
  group_id: user.group_id,
  password_max_days: user.password_max_days,
  user_permissions: user.user_permissions as PermissionMap,
});
type UserBody = ReturnType<typeof toUserBody>;

interface UserFormProps {
  readonly user: UserData;
  readonly etag: string | undefined;
  readonly canWrite: boolean;
}

export function UserForm({ user, etag, canWrite }: UserFormProps) {
  const toasts = useToasts();
  const draft = useDraft(
    useMemo(() => toUserBody(user), [user]),
    etag,
  );
  const { value, change } = draft;
  const { mutate, error, isPending, reset } = useWrite('PUT /api/users/{userId}', refreshed);
  const save = (isForced: boolean) =>
    mutate(
      { given: { params: { userId: user.id }, body: value }, options: { ifMatch: isForced ? undefined : draft.etag } },
      {
        onSuccess: () => {
          draft.accept();
          toasts.showSuccess(own.saved(user.email_address));
        },
      },
    );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save(false);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <ErrorText error={isConflict(error) ? null : error} />
      <DetailsCard value={value} change={change} isDisabled={!canWrite} />
      <RightsCard value={value} change={change} isDisabled={!canWrite} />
      {canWrite && <SaveBar isDirty={draft.isDirty} isBusy={isPending} action={own.save} onDiscard={draft.discard} />}
      <ConflictDialog error={error} draft={draft} reads={refreshed} onClose={reset} onOverwrite={() => save(true)} />
    </form>
  );
}

interface RightsCardProps {
  readonly value: UserBody;
  change(some: Partial<UserBody>): void;
  readonly isDisabled: boolean;
}

const DetailsCard = ({ value, change, isDisabled }: RightsCardProps) => (
  <Card title={own.details}>
    <fieldset disabled={isDisabled} className="flex flex-col gap-4">
      <div className="grid gap-4 min-[600px]:grid-cols-2">
        <TextField
          label={own.firstName}
          required
          maxLength={100}
          value={value.first_name}
          onChange={event => change({ first_name: event.target.value })}
        />
        <TextField
          label={own.lastName}
          required
          maxLength={100}
          value={value.last_name}
          onChange={event => change({ last_name: event.target.value })}
        />
      </div>
      <Switch
        label={own.active}
        help={own.activeHelp}
        checked={value.active}
        onChange={event => change({ active: event.target.checked })}
      />
    </fieldset>
  </Card>
);

/** Administrator, a group, or permissions of the user alone. */
function RightsCard({ value, change, isDisabled }: RightsCardProps) {
  const isAdministrator = usePermission('admin');
  const canSeeGroups = usePermission('user_groups');
  const groups = useOperation('GET /api/usergroups', { query: { p: -1 } }, { enabled: canSeeGroups });
  const isAdmin = value.user_permissions.IsAdmin === 'admin';
  const known = (groups.data?.value.groups ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const isMissing = value.group_id !== '' && !known.some(it => it.value === value.group_id);
  const setAdmin = (is: boolean) => {
    const { IsAdmin: _before, ...others } = value.user_permissions;
    change({ user_permissions: is ? { ...others, IsAdmin: 'admin' } : others });
  };
  return (
    <Card title={own.rights}>
      <div className="flex flex-col gap-4">
        <fieldset disabled={isDisabled} className="flex flex-col gap-4">
          <Switch
            label={own.administrator}
            help={own.administratorHelp}
            disabled={!isAdministrator}
            checked={isAdmin}
            onChange={event => setAdmin(event.target.checked)}
          />
          <SelectField
            label={own.group}
            help={own.groupHelp}
            value={value.group_id}
            onChange={event => change({ group_id: event.target.value })}
            options={[
              { value: '', label: own.noGroup },
              ...(isMissing ? [{ value: value.group_id, label: value.group_id }] : []),
              ...known,
            ]}
          />
        </fieldset>
        {!isAdmin && (
          <>
            {value.group_id === '' && (
              <RolePreset
                permissions={value.user_permissions}
                isDisabled={isDisabled}
                onChange={user_permissions => change({ user_permissions })}
              />
            )}
            <p className="text-dim">{value.group_id ? own.groupPermissions : texts.groups.permissionsAbout}</p>
            <PermissionTable
              value={value.user_permissions}
              isDisabled={isDisabled}
              onChange={next => change({ user_permissions: next as PermissionMap })}
            />
          </>
        )}
      </div>
    </Card>
  );
}

interface RolePresetProps {
  readonly permissions: PermissionMap;
  readonly isDisabled: boolean;
  onChange(permissions: PermissionMap): void;
}

/** Permissions of a role at once; other permissions are none of the roles. */
function RolePreset({ permissions, isDisabled, onChange }: RolePresetProps) {
  const session = useSession();
  const current = findRole(permissions) ?? '';
  const roles: readonly RoleName[] = listGrantableRoles(session).filter(role => role !== 'administrator');
  const choose = (role: RoleName | '') => role !== '' && onChange({ ...rolePermissions[role] });
  const known = current === '' || roles.includes(current) ? roles : [current, ...roles];
  return (
    <SelectField
      label={own.rolePreset}
      help={own.rolePresetHelp}
      disabled={isDisabled}
      value={current}
      onChange={event => choose(event.target.value as RoleName | '')}
      options={[
        ...(current === '' ? [{ value: '', label: own.custom }] : []),
        ...known.map(value => ({ value, label: own.roles[value] })),
      ]}
    />
  );
}
