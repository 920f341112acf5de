import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Checkbox, TextAreaField } from '../../kit/field.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { AccessChoices, toNumbers } from './access-choices.tsx';

const own = adminTexts.apps;

interface ProvisionDialogProps {
  readonly appId: number;
  readonly isOpen: boolean;
  onClose(): void;
}

/** Gives an app access to products under a plan, on behalf of its owner. */
export function ProvisionDialog({ appId, isOpen, onClose }: ProvisionDialogProps) {
  const [products, setProducts] = useState<readonly PickItem[]>([]);
  const [plans, setPlans] = useState<readonly PickItem[]>([]);
  const [certificate, setCertificate] = useState('');
  const [isImmediate, setImmediate] = useState(true);
  const provision = useWrite('PUT /portal-api/apps/{app_id}/provision', ['GET /portal-api/apps/{app_id}']);
  const toasts = useToasts();
  const submit = () =>
    provision.mutate(
      {
        given: {
          params: { app_id: String(appId) },
          body: {
            PlanID: toNumbers(plans)[0] ?? 0,
            ProductIDs: toNumbers(products),
            ProvisionImmediately: isImmediate,
            ...(certificate.trim() !== '' && { Certificate: certificate }),
          },
        },
      },
      {
        onSuccess: () => {
          toasts.showSuccess(own.provisioned);
          onClose();
        },
      },
    );
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={own.provision}
      about={own.provisionAbout}
      footer={
        <ProvisionActions
          canProvision={plans.length > 0 && products.length > 0}
          isBusy={provision.isPending}
          onProvision={submit}
          onClose={onClose}
        />
      }
    >
      <div className="flex flex-col gap-4">
        <ErrorText error={provision.error} />
        <AccessChoices products={products} onProducts={setProducts} plans={plans} onPlans={setPlans} />
        <TextAreaField
          label={own.certificate}
          help={own.certificateHelp}
          value={certificate}
          onChange={event => setCertificate(event.target.value)}
        />
        <Checkbox label={own.immediate} checked={isImmediate} onChange={event => setImmediate(event.target.checked)} />
      </div>
    </Dialog>
  );
}

interface ProvisionActionsProps {
  readonly canProvision: boolean;
  readonly isBusy: boolean;
  onProvision(): void;
  onClose(): void;
}

const ProvisionActions = ({ canProvision, isBusy, onProvision, onClose }: ProvisionActionsProps) => (
  <>
    <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
    <Button kind="primary" disabled={!canProvision} isBusy={isBusy} onClick={onProvision}>
      {own.provision}
    </Button>
  </>
);
