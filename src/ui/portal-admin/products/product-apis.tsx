import { useState } from 'react';
import { Badge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { Card, FactList } from '../../kit/card.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { useProviderItems } from '../lists/reference-items.ts';
import { describeAuthentication } from './authentication-text.ts';
import type { PortalProduct } from './portal-product.ts';
import { ProviderApiPicker } from './provider-api-picker.tsx';

const own = adminTexts.products;

/** APIs of a product as its provider has them, and their choice. */
export const ProductApis = ({ product }: { product: PortalProduct }) => (
  <div className="flex flex-col gap-4">
    {product.APIDetails.length === 0 && <p className="text-dim">{own.noApis}</p>}
    {product.APIDetails.map(api => (
      <Card key={api.APIID} title={api.Name}>
        <FactList
          rows={[
            [own.apiId, <code key="id">{api.APIID}</code>],
            [own.apiType, api.APIType || '–'],
            [own.listenPath, <code key="path">{api.ListenPath}</code>],
            [own.columns.authentication, describeAuthentication(product.AuthTypes) || '–'],
            [own.columns.marks, <Badge key="state">{api.Status ? own.apiActive : own.apiInactive}</Badge>],
          ]}
        />
      </Card>
    ))}
    <ApiChoice key={JSON.stringify(product.APIDetails.map(({ APIID }) => APIID))} product={product} />
  </div>
);

/** The last API takes the access of all keys with it: that is confirmed. */
function ApiChoice({ product: { ID, ProviderID, APIDetails } }: { product: PortalProduct }) {
  const { items: providers = [] } = useProviderItems();
  const [chosen, setChosen] = useState<readonly PickItem[]>(
    APIDetails.map(({ APIID, Name, ListenPath }) => ({ id: APIID, name: own.apiOf(Name, ListenPath) })),
  );
  const [isConfirming, setConfirming] = useState(false);
  const save = useWrite('PUT /portal-api/products/{product_id}', [
    'GET /portal-api/products',
    'GET /portal-api/products/{product_id}',
  ]);
  const toasts = useToasts();
  const providerId = ProviderID === 0 ? (providers[0]?.id ?? '') : String(ProviderID);
  const isSame = JSON.stringify(chosen.map(({ id }) => id)) === JSON.stringify(APIDetails.map(({ APIID }) => APIID));
  const submit = () =>
    save.mutate(
      {
        given: {
          params: { product_id: String(ID) },
          body: { ProviderID: Number(providerId), APIDetails: chosen.map(({ id }) => ({ APIID: id })) },
        },
      },
      {
        onSuccess: () => toasts.showSuccess(own.apisSaved),
        onSettled: () => setConfirming(false),
      },
    );
  return (
    <Card title={own.chooseApis}>
      <div className="flex flex-col gap-3">
        <p className="text-dim">{own.apisHelp}</p>
        <ErrorText error={save.error} />
        <ProviderApiPicker providerId={providerId} chosen={chosen} onChange={setChosen} />
        <div>
          <Button
            kind="primary"
            disabled={isSame}
            isBusy={save.isPending}
            onClick={() => (chosen.length === 0 ? setConfirming(true) : submit())}
          >
            {own.saveApis}
          </Button>
        </div>
      </div>
      <ConfirmDialog
        isOpen={isConfirming}
        tier={2}
        title={own.removeApisTitle}
        consequence={own.removeApisConsequence}
        action={own.removeApis}
        isBusy={save.isPending}
        onConfirm={submit}
        onClose={() => setConfirming(false)}
      />
    </Card>
  );
}
