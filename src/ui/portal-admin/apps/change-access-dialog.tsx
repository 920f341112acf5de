import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { Checkbox } from '../../kit/field.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { AccessChoices, toNumbers } from './access-choices.tsx';

const own = adminTexts.apps;

type AppRequest = ResultOf<'GET /portal-api/apps/{app_id}'>['AccessRequests'][number][number];

interface ChangeAccessDialogProps {
  readonly request: AppRequest;
  onClose(): void;
}

/** Another plan or other products of an approved request; its keys stay the same. */
export function ChangeAccessDialog({ request, onClose }: ChangeAccessDialogProps) {
  const [products, setProducts] = useState<readonly PickItem[]>(() =>
    request.ProductIDs.map((id, place) => ({ id: String(id), name: request.Products[place] ?? '' })),
  );
  const [plans, setPlans] = useState<readonly PickItem[]>([{ id: String(request.PlanID), name: request.Plan }]);
  const [isImmediate, setImmediate] = useState(true);
  const change = useWrite('PUT /portal-api/apps/{app_id}/access-requests/{access-request_id}/change', [
    'GET /portal-api/apps/{app_id}',
  ]);
  const toasts = useToasts();
  const submit = () =>
    change.mutate(
      {
        given: {
          params: { app_id: String(request.AppID), access_request_id: String(request.ID) },
          body: {
            PlanID: toNumbers(plans)[0] ?? null,
            ProductIDs: toNumbers(products),
            ProvisionImmediately: isImmediate,
          },
        },
      },
      {
        onSuccess: () => {
          toasts.showSuccess(isImmediate ? own.accessChanged : own.changeRequested);
          onClose();
        },
      },
    );
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={own.changeAccess}
      about={own.changeAccessAbout}
      footer={
        <>
          <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
          <Button
            kind="primary"
            disabled={plans.length === 0 || products.length === 0}
            isBusy={change.isPending}
            onClick={submit}
          >
            {own.changeAccess}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ErrorText error={change.error} />
        <AccessChoices products={products} onProducts={setProducts} plans={plans} onPlans={setPlans} />
        <Checkbox label={own.immediate} checked={isImmediate} onChange={event => setImmediate(event.target.checked)} />
      </div>
    </Dialog>
  );
}
