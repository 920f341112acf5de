import { Card } from '../../kit/card.tsx';
import { Switch, TextField } from '../../kit/field.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { type Permissions, PermissionTable } from './permission-table.tsx';

const own = texts.groups;

export interface GroupBody {
  readonly name: string;
  readonly description: string;
  readonly active: boolean;
  readonly password_max_days: number;
  readonly user_permissions: Record<string, 'read' | 'write' | 'deny' | 'admin'>;
}

export const emptyGroup: GroupBody = {
  name: '',
  description: '',
  active: true,
  password_max_days: 0,
  user_permissions: {},
};

export interface GroupFaults {
  readonly name?: string;
  readonly permissions?: string;
}

export const findGroupFaults = ({ name, user_permissions }: GroupBody): GroupFaults => ({
  ...(name.trim() ? {} : { name: own.nameMissing }),
  ...(Object.keys(user_permissions).length > 0 ? {} : { permissions: own.permissionMissing }),
});

interface GroupFieldsProps {
  readonly value: GroupBody;
  change(some: Partial<GroupBody>): void;
  readonly faults: GroupFaults;
  readonly isDisabled: boolean;
}

export const GroupFields = ({ value, change, faults, isDisabled }: GroupFieldsProps) => (
  <>
    <Card title={own.details}>
      <fieldset disabled={isDisabled} className="flex flex-col gap-4">
        <TextField
          label={own.name}
          required
          error={faults.name}
          value={value.name}
          onChange={event => change({ name: event.target.value })}
        />
        <TextField
          label={own.description}
          value={value.description}
          onChange={event => change({ description: event.target.value })}
        />
        <Switch
          label={own.isActive}
          help={own.isActiveHelp}
          checked={value.active}
          onChange={event => change({ active: event.target.checked })}
        />
        <TextField
          label={own.passwordDays}
          help={own.passwordDaysHelp}
          type="number"
          min={0}
          unit={own.daysUnit}
          value={String(value.password_max_days)}
          onChange={event => change({ password_max_days: Number(event.target.value) })}
        />
      </fieldset>
    </Card>
    <Card title={own.permissions}>
      <div className="flex flex-col gap-3">
        <p className="text-dim">{own.permissionsAbout}</p>
        <ErrorText error={faults.permissions ? new Error(faults.permissions) : null} />
        <PermissionTable
          value={value.user_permissions}
          isDisabled={isDisabled}
          onChange={(next: Permissions) => change({ user_permissions: next as GroupBody['user_permissions'] })}
        />
      </div>
    </Card>
  </>
);
