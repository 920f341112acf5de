import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Badge, StatusPill } from '../../kit/badge.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { Card, FactList } from '../../kit/card.tsx';
import { DualList } from '../../kit/dual-list.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { useToasts } from '../../kit/toast.tsx';
import type { Draft } from '../../kit/use-draft.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { RecordForm, type RecordValue } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { chooseByName, useCatalogueItems, useProviderItems } from '../lists/reference-items.ts';
import { ProductChangelog } from './product-changelog.tsx';
import { ProductClientTypes } from './product-client-types.tsx';
import { createNewProductSections, productSections } from './product-fields.ts';

const own = adminTexts.products;
type ProductWrite = ArgumentsOf<'POST /portal-api/products'>['body'];
type ProductChange = ArgumentsOf<'PUT /portal-api/products/{product_id}'>['body'];
type PortalProduct = ResultOf<'GET /portal-api/products/{product_id}'>;
const refreshed = ['GET /portal-api/products', 'GET /portal-api/products/{product_id}'] as const;

/** Catalogues of a product: numbers in the draft. */
function ProductCatalogues({ draft: { value, change } }: { draft: Draft<RecordValue> }) {
  const { items = [] } = useCatalogueItems('');
  const ids = (value.Catalogues ?? []) as readonly number[];
  return (
    <Card title={own.catalogues}>
      <DualList
        title={own.catalogues}
        searchLabel={own.searchCatalogues}
        items={items}
        chosen={items.filter(({ id }) => ids.includes(Number(id)))}
        onChange={chosen => change({ Catalogues: chosen.map(({ id }) => Number(id)) })}
      />
    </Card>
  );
}

export function NewProductPage() {
  const navigate = useNavigate();
  const { items: providers = [] } = useProviderItems();
  const create = useWrite('POST /portal-api/products', refreshed);
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={{ Name: '', DisplayName: '', ProviderID: '', APIs: [], Description: '', Catalogues: [] }}
        sections={createNewProductSections(providers)}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        renderMore={draft => <ProductCatalogues draft={draft} />}
        onSave={async ({ APIs, ProviderID, ...draft }, _changes, accept) => {
          const ids = APIs as readonly string[];
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
  const { Name, DisplayName, Path, Description, Content, Feature, DCREnabled, Scopes } = product;
  const stored = {
    ...{ Name, DisplayName, Path, Description, Content, Feature, DCREnabled, Scopes },
    Catalogues: chooseByName(catalogues.items, product.Catalogues).map(({ id }) => Number(id)),
  };
  return <ProductEditor product={product} stored={stored} />;
}

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
      <Tabs
        label={name}
        current={tab}
        items={[
          { id: 'details', label: own.details },
          { id: 'apis', label: own.columns.apis },
          { id: 'documentation', label: own.documentation },
          { id: 'changelog', label: adminTexts.changelog.title },
          { id: 'registration', label: adminTexts.productClientTypes.title },
        ]}
      />
      <div className={tab === 'details' ? '' : 'hidden'}>
        <RecordForm
          key={product.ID}
          hasTabs
          stored={stored}
          sections={productSections}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          renderMore={draft => <ProductCatalogues draft={draft} />}
          onSave={async (_draft, changes, accept) => {
            await save.mutateAsync({ given: { params, body: changes as ProductChange } });
            accept();
            toasts.showSuccess(adminTexts.forms.saved(name));
          }}
        />
      </div>
      {tab === 'apis' && <ProductApis product={product} />}
      {tab === 'documentation' && <ProductDocuments product={product} />}
      {tab === 'changelog' && <ProductChangelog productId={product.ID} />}
      {tab === 'registration' && <ProductClientTypes productId={product.ID} isUsed={product.DCREnabled} />}
    </PageFrame>
  );
}

/** APIs of a product as its provider has them. */
const ProductApis = ({ product: { APIDetails, AuthTypes } }: { product: PortalProduct }) => (
  <div className="flex flex-col gap-4">
    {APIDetails.length === 0 && <p className="text-dim">{own.noApis}</p>}
    {APIDetails.map(api => (
      <Card key={api.APIID} title={api.Name}>
        <FactList
          rows={[
            [own.apiId, <code key="id">{api.APIID}</code>],
            [own.apiType, api.APIType || '–'],
            [own.listenPath, <code key="path">{api.ListenPath}</code>],
            [own.columns.authentication, AuthTypes.join(', ') || '–'],
            [own.columns.marks, <Badge key="state">{api.Status ? own.apiActive : own.apiInactive}</Badge>],
          ]}
        />
      </Card>
    ))}
  </div>
);

/** Guides and specifications of a product. */
function ProductDocuments({ product: { ID, SpecDetails } }: { product: PortalProduct }) {
  const docs = useOperation('GET /portal-api/products/{product_id}/docs', {
    params: { product_id: String(ID) },
    query: { per_page: 1000 },
  });
  return (
    <div className="flex flex-col gap-4">
      <Card title={own.guides}>
        {!docs.data && <QueryState query={docs} lines={3} />}
        {docs.data?.value.length === 0 && <p className="text-dim">{own.noGuides}</p>}
        <ul className="flex flex-col gap-2">
          {docs.data?.value.map(doc => (
            <li key={doc.ID} className="flex flex-wrap items-center gap-2">
              <span className="font-medium">{doc.Title}</span>
              <Badge>{doc.Status}</Badge>
            </li>
          ))}
        </ul>
      </Card>
      <Card title={own.specifications}>
        {SpecDetails.length === 0 && <p className="text-dim">{own.noSpecifications}</p>}
        <FactList rows={SpecDetails.map(spec => [spec.Name || spec.SpecAlias, spec.DocumentationType])} />
      </Card>
    </div>
  );
}
