import { useState } from 'react';
import { SelectField, Switch, TextField } from '../../kit/field.tsx';
import { LinesField } from '../../kit/lines-field.tsx';
import { useOperation } from '../../kit/queries.ts';
import { signOnTexts } from '../../texts/en/sign-on.ts';
import { usePermission } from '../session/session.ts';
import { formatMapping, type GroupItem, type ProfileBody, parseMapping } from './profile-draft.ts';

const own = signOnTexts;

interface MappingFieldsProps {
  readonly value: ProfileBody;
  change(some: Partial<ProfileBody>): void;
  onFault(fault: string | undefined): void;
}

type TextMember =
  | 'CustomEmailField'
  | 'CustomUserIDField'
  | 'CustomUserGroupField'
  | 'UserGroupSeparator'
  | 'ProviderConstraintsDomain'
  | 'ProviderConstraintsGroup';

/** Groups by name; without permission to read them, ids are typed. */
function useGroups(): readonly GroupItem[] | undefined {
  const canRead = usePermission('user_groups');
  const { data } = useOperation('GET /api/usergroups', { query: { p: -1 } }, { enabled: canRead });
  return canRead ? data?.value.groups : [];
}

/** Claims, groups and who may sign on. */
export function MappingFields({ value, change, onFault }: MappingFieldsProps) {
  const groups = useGroups();
  const textOf = (member: TextMember, label: string) => (
    <TextField label={label} value={value[member]} onChange={event => change({ [member]: event.target.value })} />
  );
  const known = (groups ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const isMissing = value.DefaultUserGroupID !== '' && !known.some(it => it.value === value.DefaultUserGroupID);
  return (
    <>
      <div className="grid gap-4 min-[600px]:grid-cols-2">
        {textOf('CustomEmailField', own.emailField)}
        {textOf('CustomUserIDField', own.userField)}
        {textOf('CustomUserGroupField', own.groupField)}
        {textOf('UserGroupSeparator', own.separator)}
      </div>
      {groups && <GroupMapping value={value} change={change} onFault={onFault} groups={groups} />}
      <SelectField
        label={own.defaultGroup}
        value={value.DefaultUserGroupID}
        onChange={event => change({ DefaultUserGroupID: event.target.value })}
        options={[
          { value: '', label: own.noGroup },
          ...(isMissing ? [{ value: value.DefaultUserGroupID, label: value.DefaultUserGroupID }] : []),
          ...known,
        ]}
      />
      <Switch
        label={own.onlyRegistered}
        checked={value.SSOOnlyForRegisteredUsers}
        onChange={event => change({ SSOOnlyForRegisteredUsers: event.target.checked })}
      />
      <div className="grid gap-4 min-[600px]:grid-cols-2">
        {textOf('ProviderConstraintsDomain', own.domain)}
        {textOf('ProviderConstraintsGroup', own.requiredGroup)}
      </div>
    </>
  );
}

/** Lines of groups; a group that is already in the mapping is accepted also where it cannot be read. */
function GroupMapping({ value, change, onFault, groups }: MappingFieldsProps & { groups: readonly GroupItem[] }) {
  const named = [...groups, ...Object.values(value.UserGroupMapping).map(id => ({ id, name: id }))];
  const [lines, setLines] = useState<readonly string[]>(() => formatMapping(value.UserGroupMapping, groups));
  const parsed = parseMapping(lines, named);
  const isOwn = parsed.fault !== undefined || JSON.stringify(parsed.mapping) === JSON.stringify(value.UserGroupMapping);
  const edit = (next: readonly string[]) => {
    setLines(next);
    const { mapping, fault } = parseMapping(next, named);
    onFault(fault);
    if (fault === undefined) change({ UserGroupMapping: mapping });
  };
  return (
    <LinesField
      label={own.groupMapping}
      help={own.groupMappingHelp}
      error={parsed.fault === undefined ? undefined : own.groupMappingFault(parsed.fault)}
      separator="line"
      values={isOwn ? lines : formatMapping(value.UserGroupMapping, groups)}
      onChange={edit}
    />
  );
}
