import { buttonClass } from '../../kit/button.tsx';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { Card, FactList } from '../../kit/card.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm } from '../forms/record-form.tsx';
import { useAdminSession } from '../session/admin-session.ts';

const own = adminTexts.profile;
type UserChange = ArgumentsOf<'PUT /portal-api/users/{user_id}'>['body'];
const refreshed = ['GET /portal-api/users/{user_id}', 'GET /portal-api/users', 'GET /portal-api/session'] as const;

const sections: readonly FormSection[] = [
  {
    title: own.name,
    fields: [
      { name: 'First', label: adminTexts.users.first },
      { name: 'Last', label: adminTexts.users.last },
    ],
  },
];

/** Account of the administrator of this browser. The site changes the password, which it asks for first. */
export function AdminProfilePage() {
  const { ID } = useAdminSession();
  const params = { user_id: String(ID) };
  const read = useOperation('GET /portal-api/users/{user_id}', { params });
  const save = useWrite('PUT /portal-api/users/{user_id}', refreshed);
  const toasts = useToasts();
  const user = read.data?.value;
  if (!user)
    return (
      <PageFrame title={own.title} width="form">
        <QueryState query={read} />
      </PageFrame>
    );
  return (
    <PageFrame title={own.title} width="form">
      <div className="flex flex-col gap-4">
        <Card title={own.account}>
          <FactList
            rows={[
              [adminTexts.users.columns.email, user.Email],
              [adminTexts.users.columns.role, adminTexts.shell.roles[user.Role] ?? user.Role],
              [own.signIn, user.Provider === 'password' ? own.password : user.Provider],
              [own.since, user.CreatedAt],
            ]}
          />
          {user.Provider === 'password' && (
            <a className={buttonClass('secondary', 'mt-4')} href="/portal/private/profile">
              {own.changePassword}
            </a>
          )}
        </Card>
        <RecordForm
          stored={{ First: user.First, Last: user.Last }}
          sections={sections}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          onSave={async (_draft, changes, accept) => {
            await save.mutateAsync({ given: { params, body: changes as UserChange } });
            accept();
            toasts.showSuccess(own.saved);
          }}
        />
      </div>
    </PageFrame>
  );
}
