import { useNavigate, useParams } from '@tanstack/react-router';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { RecordForm } from '../forms/record-form.tsx';
import { CatalogueCard } from '../lists/catalogue-card.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { useProviderItems } from '../lists/reference-items.ts';
import { createPlanSections, newPlanDraft } from './plan-fields.ts';

const own = adminTexts.plans;
type PlanWrite = ArgumentsOf<'POST /portal-api/plans'>['body'];
type PlanChange = ArgumentsOf<'PUT /portal-api/plans/{plan_id}'>['body'];
const refreshed = ['GET /portal-api/plans', 'GET /portal-api/plans/{plan_id}'] as const;

export function NewPlanPage() {
  const navigate = useNavigate();
  const { items: providers = [] } = useProviderItems();
  const create = useWrite('POST /portal-api/plans', refreshed);
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={newPlanDraft}
        sections={createPlanSections(providers)}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        renderMore={draft => <CatalogueCard draft={draft} warning={own.noCatalogue} />}
        onSave={async (draft, _changes, accept) => {
          const { value } = await create.mutateAsync({ given: { body: draft as PlanWrite } });
          accept();
          await navigate({ to: '/admin/plans/$planId', params: { planId: String(value.ID) }, ignoreBlocker: true });
        }}
      />
    </PageFrame>
  );
}

export function PlanPage() {
  const { planId } = useParams({ from: '/shell/admin/plans/$planId' });
  const params = { plan_id: planId };
  const read = useOperation('GET /portal-api/plans/{plan_id}', { params });
  const save = useWrite('PUT /portal-api/plans/{plan_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/plans/{plan_id}', ['GET /portal-api/plans']);
  const toasts = useToasts();
  const plan = read.data?.value;
  if (!plan)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const name = plan.DisplayName || plan.Name;
  return (
    <PageFrame
      title={name}
      width="form"
      actions={
        <DeleteButton
          label={adminTexts.forms.delete}
          action={own.deleteAction(name)}
          name={name}
          tier={3}
          consequence={own.deleteConsequence}
          list="/admin/plans"
          done={own.deleted}
          remove={() => remove.mutateAsync({ given: { params } })}
        />
      }
    >
      <p className="mb-4 text-dim">{own.liveNotice}</p>
      <RecordForm
        key={planId}
        stored={plan}
        sections={createPlanSections()}
        action={own.save}
        isBusy={save.isPending}
        error={save.error}
        renderMore={draft => <CatalogueCard draft={draft} warning={own.noCatalogue} />}
        onSave={async (_draft, changes, accept) => {
          await save.mutateAsync({ given: { params, body: changes as PlanChange } });
          accept();
          toasts.showSuccess(adminTexts.forms.saved(name));
        }}
      />
    </PageFrame>
  );
}
