import { useNavigate, useParams } from '@tanstack/react-router';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm, type RecordValue } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { type MenuRow, toLinkStates, toMenuItems, toMenuRows } from './menu-items.ts';
import { MenuRows } from './menu-rows.tsx';

const own = adminTexts.menus;
const refreshed = ['GET /portal-api/menus', 'GET /portal-api/menus/{menu_id}'] as const;

const sections: readonly FormSection[] = [
  {
    title: own.details,
    fields: [
      { name: 'Name', label: own.name, isRequired: true },
      { name: 'Path', label: own.path, help: own.pathHelp, isRequired: true, isMono: true },
    ],
  },
];

const readRows = ({ Rows }: RecordValue) => Rows as readonly MenuRow[];
const toBody = (draft: RecordValue) => ({
  Name: String(draft.Name),
  Path: String(draft.Path),
  Items: toMenuItems(readRows(draft)),
});

export function NewMenuPage() {
  const navigate = useNavigate();
  const create = useWrite('POST /portal-api/menus', refreshed);
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={{ Name: '', Path: 'Primary', Rows: [] }}
        sections={sections}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        renderMore={({ value, change }) => (
          <MenuRows rows={readRows(value)} states={new Map()} onChange={Rows => change({ Rows })} />
        )}
        onSave={async (draft, _changes, accept) => {
          const { value } = await create.mutateAsync({ given: { body: toBody(draft) } });
          accept();
          await navigate({ to: '/admin/menus/$menuId', params: { menuId: String(value.ID) }, ignoreBlocker: true });
        }}
      />
    </PageFrame>
  );
}

export function MenuPage() {
  const { menuId } = useParams({ from: '/shell/admin/menus/$menuId' });
  const params = { menu_id: menuId };
  const read = useOperation('GET /portal-api/menus/{menu_id}', { params });
  const save = useWrite('PUT /portal-api/menus/{menu_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/menus/{menu_id}', ['GET /portal-api/menus']);
  const toasts = useToasts();
  const menu = read.data?.value;
  if (!menu)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Name, Path, Items } = menu;
  return (
    <PageFrame
      title={Name}
      width="form"
      actions={
        <DeleteButton
          label={adminTexts.forms.delete}
          action={own.deleteAction(Name)}
          name={Name}
          tier={3}
          consequence={own.deleteConsequence}
          list="/admin/menus"
          done={own.deleted}
          remove={() => remove.mutateAsync({ given: { params } })}
        />
      }
    >
      <RecordForm
        key={menuId}
        stored={{ Name, Path, Rows: toMenuRows(Items) }}
        sections={sections}
        action={own.save}
        isBusy={save.isPending}
        error={save.error}
        renderMore={({ value, change }) => (
          <MenuRows rows={readRows(value)} states={toLinkStates(Items)} onChange={Rows => change({ Rows })} />
        )}
        onSave={async (draft, _changes, accept) => {
          await save.mutateAsync({ given: { params, body: toBody(draft) } });
          accept();
          toasts.showSuccess(adminTexts.forms.saved(String(draft.Name)));
        }}
      />
    </PageFrame>
  );
}
