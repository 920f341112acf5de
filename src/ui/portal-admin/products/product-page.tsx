import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { StatusPill } from '../../kit/badge.tsx';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText, QueryState, Skeleton } from '../../kit/states.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { RecordForm, type RecordValue } from '../forms/record-form.tsx';
import { CatalogueCard } from '../lists/catalogue-card.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { chooseByName, useCatalogueItems, useProviderItems } from '../lists/reference-items.ts';
import type { PortalProduct } from './portal-product.ts';
import { ProductApis } from './product-apis.tsx';
import { ProductChangelog } from './product-changelog.tsx';
import { ProductClientTypes } from './product-client-types.tsx';
import { ProductDocuments } from './product-documents.tsx';
import { createNewProductSections, productSections } from './product-fields.ts';
import { ProductImages } from './product-images.tsx';
import { ProviderApiPicker } from './provider-api-picker.tsx';

const own = adminTexts.products;
type ProductWrite = ArgumentsOf<'POST /portal-api/products'>['body'];
type ProductChange = ArgumentsOf<'PUT /portal-api/products/{product_id}'>['body'];
const refreshed = ['GET /portal-api/products', 'GET /portal-api/products/{product_id}'] as const;

const newProduct = { Name: '', DisplayName: '', APIs: [], Description: '', Catalogues: [] };

export function NewProductPage() {
  const navigate = useNavigate();
  const { items: providers, error } = useProviderItems();
  const create = useWrite('POST /portal-api/products', refreshed);
  if (!providers)
    return (
      <PageFrame title={own.newTitle} width="form">
        {error ? <ErrorText error={error} /> : <Skeleton />}
      </PageFrame>
    );
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={{ ...newProduct, ProviderID: providers.length === 1 ? providers[0]!.id : '' }}
        sections={createNewProductSections(providers)}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        renderMore={draft => (
          <>
            <Card title={own.columns.apis}>
              <p className="mb-3 text-dim">{own.apisHelp}</p>
              <ProviderApiPicker
                providerId={String(draft.value.ProviderID)}
                chosen={draft.value.APIs as readonly PickItem[]}
                onChange={APIs => draft.change({ APIs })}
              />
            </Card>
            <CatalogueCard draft={draft} warning={own.noCatalogue} />
          </>
        )}
        onSave={async ({ APIs, ProviderID, ...draft }, _changes, accept) => {
          const ids = (APIs as readonly PickItem[]).map(({ id }) => id);
          const offered = { ProviderID: Number(ProviderID), APIDetails: ids.map(APIID => ({ APIID })) };
          const kind = ids.length === 0 ? { IsDocumentationOnly: true } : { IsDocumentationOnly: false, ...offered };
          const { value } = await create.mutateAsync({ given: { body: { ...draft, ...kind } as ProductWrite } });
          accept();
          const params = { productId: String(value.ID) };
          await navigate({ to: '/admin/api_products/$productId', params, ignoreBlocker: true });
        }}
      />
    </PageFrame>
  );
}

export function ProductPage() {
  const { productId } = useParams({ from: '/shell/admin/api_products/$productId' });
  const read = useOperation('GET /portal-api/products/{product_id}', { params: { product_id: productId } });
  const catalogues = useCatalogueItems('');
  const product = read.data?.value;
  if (!product || !catalogues.items)
    return (
      <PageFrame title={own.title}>
        <QueryState query={{ ...read, error: read.error ?? catalogues.error }} />
      </PageFrame>
    );
  const { Name, DisplayName, Path, Description, Content, Tags, Feature, DCREnabled, Scopes } = product;
  const stored = {
    ...{ Name, DisplayName, Path, Description, Content, Tags, Feature, DCREnabled, Scopes },
    Catalogues: chooseByName(catalogues.items, product.Catalogues).map(({ id }) => Number(id)),
  };
  return <ProductEditor product={product} stored={stored} />;
}

const tabs = [
  { id: 'details', label: own.details },
  { id: 'apis', label: own.columns.apis },
  { id: 'documentation', label: own.documentation },
  { id: 'changelog', label: adminTexts.changelog.title },
  { id: 'registration', label: adminTexts.productClientTypes.title },
];

function ProductEditor({ product, stored }: { product: PortalProduct; stored: RecordValue }) {
  const { tab = 'details' } = useSearch({ from: '/shell/admin/api_products/$productId' });
  const params = { product_id: String(product.ID) };
  const save = useWrite('PUT /portal-api/products/{product_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/products/{product_id}', ['GET /portal-api/products']);
  const toasts = useToasts();
  const name = product.DisplayName || product.Name;
  return (
    <PageFrame
      title={name}
      width="form"
      status={product.Hidden && <StatusPill tone="warning">{own.hidden}</StatusPill>}
      actions={
        <DeleteButton
          label={adminTexts.forms.delete}
          action={own.deleteAction(name)}
          name={name}
          tier={3}
          consequence={own.deleteConsequence}
          list="/admin/api_products"
          done={own.deleted}
          remove={() => remove.mutateAsync({ given: { params } })}
        />
      }
    >
      <Tabs label={name} current={tab} items={tabs} />
      <div className={tab === 'details' ? 'flex flex-col gap-4' : 'hidden'}>
        <RecordForm
          key={product.ID}
          hasTabs
          stored={stored}
          sections={productSections}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          renderMore={draft => <CatalogueCard draft={draft} warning={own.noCatalogue} />}
          onSave={async (_draft, changes, accept) => {
            await save.mutateAsync({ given: { params, body: changes as ProductChange } });
            accept();
            toasts.showSuccess(adminTexts.forms.saved(name));
          }}
        />
        <ProductImages product={product} />
      </div>
      {tab === 'apis' && <ProductApis product={product} />}
      {tab === 'documentation' && <ProductDocuments product={product} />}
      {tab === 'changelog' && <ProductChangelog productId={product.ID} />}
      {tab === 'registration' && <ProductClientTypes productId={product.ID} isUsed={product.DCREnabled} />}
    </PageFrame>
  );
}
