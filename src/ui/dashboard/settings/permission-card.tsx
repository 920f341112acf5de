import { Plus, Trash2 } from 'lucide-react';
import { useMemo } from 'react';
import { Button, IconButton } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { TextField } from '../../kit/field.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText, QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { useDraft } from '../../kit/use-draft.ts';
import { texts } from '../../texts/texts.ts';

const own = texts.settings;
type Permissions = Readonly<Record<string, string>>;

export function PermissionCard() {
  const query = useOperation('GET /api/org/permissions', {});
  const stored = query.data?.value.additional_permissions;
  return (
    <Card title={own.permissions}>
      {stored ? <PermissionEditor stored={stored} /> : <QueryState query={query} lines={2} />}
    </Card>
  );
}

interface Row {
  readonly key: number;
  readonly name: string;
  readonly title: string;
}

const toRows = (stored: Permissions): readonly Row[] =>
  Object.entries(stored).map(([name, title], key) => ({ key, name, title }));
const toPermissions = (rows: readonly Row[]): Record<string, string> =>
  Object.fromEntries(rows.map(({ name, title }) => [name.trim(), title.trim()]));

function PermissionEditor({ stored }: { stored: Permissions }) {
  const storedRows = useMemo(() => ({ rows: toRows(stored) }), [stored]);
  const draft = useDraft(storedRows);
  const { rows } = draft.value;
  const toasts = useToasts();
  const { mutate, error, isPending } = useWrite('PUT /api/org/permissions', ['GET /api/org/permissions']);
  const change = (key: number, some: Partial<Row>) =>
    draft.change({ rows: rows.map(row => (row.key === key ? { ...row, ...some } : row)) });
  const add = () =>
    draft.change({ rows: [...rows, { key: Math.max(-1, ...rows.map(({ key }) => key)) + 1, name: '', title: '' }] });
  const additional_permissions = toPermissions(rows);
  const save = () =>
    mutate(
      { given: { body: { additional_permissions } } },
      {
        onSuccess: () => {
          draft.accept();
          toasts.showSuccess(own.permissionsSaved);
        },
      },
    );
  return (
    <div className="flex flex-col gap-3">
      <p className="text-dim">{own.permissionsAbout}</p>
      {rows.length === 0 && <p className="text-dim">{own.noPermissions}</p>}
      {rows.map(({ key, name, title }) => (
        <div key={key} className="grid grid-cols-[1fr_1fr_auto] items-end gap-2">
          <TextField
            label={own.permissionName}
            isMono
            value={name}
            onChange={event => change(key, { name: event.target.value })}
          />
          <TextField
            label={own.permissionTitle}
            maxLength={200}
            value={title}
            onChange={event => change(key, { title: event.target.value })}
          />
          <IconButton
            icon={Trash2}
            label={own.removePermission(name)}
            onClick={() => draft.change({ rows: rows.filter(row => row.key !== key) })}
          />
        </div>
      ))}
      <ErrorText error={error} />
      <div className="flex flex-wrap justify-between gap-2">
        <Button icon={Plus} onClick={add}>
          {own.addPermission}
        </Button>
        <Button disabled={!draft.isDirty} isBusy={isPending} onClick={save}>
          {own.savePermissions}
        </Button>
      </div>
    </div>
  );
}
