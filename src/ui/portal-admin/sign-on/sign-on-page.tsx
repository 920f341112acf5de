import { useNavigate, useParams } from '@tanstack/react-router';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { RecordForm } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { newSignOnDraft, toSignOnBody, toSignOnDraft } from './sign-on-draft.ts';
import { createSignOnSections } from './sign-on-sections.ts';
import { SignOnTest } from './sign-on-test.tsx';

const own = adminTexts.signOn;
const refreshed = ['GET /portal-api/sso_profiles', 'GET /portal-api/sso_profiles/{profile_id}'] as const;

export function NewSignOnPage() {
  const navigate = useNavigate();
  const create = useWrite('POST /portal-api/sso_profiles', refreshed);
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={newSignOnDraft}
        sections={createSignOnSections(true)}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        onSave={async (draft, _changes, accept) => {
          const { value } = await create.mutateAsync({ given: { body: toSignOnBody(draft) } });
          accept();
          const params = { profileId: value.ID };
          await navigate({ to: '/admin/sso_profiles/$profileId', params, ignoreBlocker: true });
        }}
      />
    </PageFrame>
  );
}

export function SignOnPage() {
  const { profileId } = useParams({ from: '/shell/admin/sso_profiles/$profileId' });
  const params = { profile_id: profileId };
  const read = useOperation('GET /portal-api/sso_profiles/{profile_id}', { params });
  const save = useWrite('PUT /portal-api/sso_profiles/{profile_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/sso_profiles/{profile_id}', ['GET /portal-api/sso_profiles']);
  const toasts = useToasts();
  const profile = read.data?.value;
  if (!profile)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Name } = profile;
  return (
    <PageFrame
      title={Name}
      width="form"
      actions={
        <DeleteButton
          label={adminTexts.forms.delete}
          action={own.deleteAction(Name)}
          name={Name}
          tier={4}
          consequence={own.deleteConsequence}
          list="/admin/sso_profiles"
          done={own.deleted}
          remove={() => remove.mutateAsync({ given: { params } })}
        />
      }
    >
      <div className="flex flex-col gap-4">
        <SignOnTest profileId={profileId} />
        <RecordForm
          key={profileId}
          stored={toSignOnDraft(profile)}
          sections={createSignOnSections(false)}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          onSave={async (draft, _changes, accept) => {
            await save.mutateAsync({ given: { params, body: toSignOnBody(draft) } });
            accept();
            toasts.showSuccess(adminTexts.forms.saved(String(draft.Name)));
          }}
        />
      </div>
    </PageFrame>
  );
}
