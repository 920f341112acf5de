import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Checkbox, SelectField } from '../../kit/field.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { PickList } from '../../kit/pick-list.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { texts } from '../../texts/texts.ts';
import { usePlanItems, useProductItems } from '../lists/reference-items.ts';

const own = adminTexts.apps;

interface ProvisionDialogProps {
  readonly appId: number;
  readonly isOpen: boolean;
  onClose(): void;
}

const toNumbers = (items: readonly PickItem[]) => items.map(({ id }) => Number(id));

/** Gives an app access to products under a plan, on behalf of its owner. */
export function ProvisionDialog({ appId, isOpen, onClose }: ProvisionDialogProps) {
  const [products, setProducts] = useState<readonly PickItem[]>([]);
  const [planId, setPlanId] = useState('');
  const [isImmediate, setImmediate] = useState(true);
  const { items: plans = [] } = usePlanItems('');
  const provision = useWrite('PUT /portal-api/apps/{app_id}/provision', ['GET /portal-api/apps/{app_id}']);
  const toasts = useToasts();
  const submit = () =>
    provision.mutate(
      {
        given: {
          params: { app_id: String(appId) },
          body: { PlanID: Number(planId), ProductIDs: toNumbers(products), ProvisionImmediately: isImmediate },
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
          canProvision={planId !== '' && products.length > 0}
          isBusy={provision.isPending}
          onProvision={submit}
          onClose={onClose}
        />
      }
    >
      <div className="flex flex-col gap-4">
        <ErrorText error={provision.error} />
        <PickList
          title={own.products}
          searchLabel={own.searchProducts}
          empty={own.noProducts}
          chosen={products}
          onChange={setProducts}
          useItems={useProductItems}
        />
        <SelectField
          label={own.plan}
          required
          value={planId}
          onChange={event => setPlanId(event.target.value)}
          options={[{ value: '', label: '–' }, ...plans.map(({ id, name }) => ({ value: id, label: name }))]}
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
    <Button onClick={onClose}>{texts.kit.cancel}</Button>
    <Button kind="primary" disabled={!canProvision} isBusy={isBusy} onClick={onProvision}>
      {own.provision}
    </Button>
  </>
);
