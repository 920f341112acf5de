import { useNavigate, useParams } from '@tanstack/react-router';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import type { Draft } from '../../kit/use-draft.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm, type RecordValue } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { usePlanItems, useProductItems } from '../lists/reference-items.ts';
import { ServerDualList } from '../lists/server-dual-list.tsx';
import { AudienceCard } from './audience-card.tsx';
import type { PortalCatalogue } from './portal-catalogue.ts';

const own = adminTexts.catalogues;
type CatalogueWrite = ArgumentsOf<'POST /portal-api/catalogues'>['body'];
type CatalogueChange = ArgumentsOf<'PUT /portal-api/catalogues/{catalogue_id}'>['body'];
const refreshed = ['GET /portal-api/catalogues', 'GET /portal-api/catalogues/{catalogue_id}'] as const;

const sections: readonly FormSection[] = [
  {
    title: own.details,
    fields: [
      { name: 'Name', label: own.columns.name, isRequired: true },
      { name: 'NameWithSlug', label: own.columns.slug, help: own.slugHelp, isMono: true },
      {
        name: 'VisibilityStatus',
        label: own.columns.visibility,
        help: own.visibilityHelp,
        kind: 'select',
        options: Object.entries(own.visibilities).map(([value, label]) => ({ value, label })),
      },
    ],
  },
];

interface CatalogueOfferProps {
  readonly draft: Draft<RecordValue>;
  /** Absent for a new catalogue. */
  readonly catalogue?: PortalCatalogue;
}

const toKnown = (ids: readonly number[] = [], names: readonly string[] = []): PickItem[] =>
  ids.map((id, place) => ({ id: String(id), name: names[place] ?? String(id) }));

/** Products and plans of a catalogue: numbers in the draft. A half without the other is of no use, which is said. */
function CatalogueOffer({ draft: { value, change }, catalogue }: CatalogueOfferProps) {
  const productIds = (value.Products ?? []) as readonly number[];
  const planIds = (value.Plans ?? []) as readonly number[];
  const isHalf = (productIds.length === 0) !== (planIds.length === 0);
  return (
    <Card title={own.offer}>
      <div className="flex flex-col gap-4">
        {isHalf && <p className="text-warning">{productIds.length === 0 ? own.noProducts : own.noPlans}</p>}
        <ServerDualList
          title={own.products}
          searchLabel={own.searchProducts}
          ids={productIds}
          known={toKnown(catalogue?.ProductIDs, catalogue?.Products)}
          useItems={useProductItems}
          onChange={Products => change({ Products })}
        />
        <ServerDualList
          title={own.plans}
          searchLabel={own.searchPlans}
          ids={planIds}
          known={toKnown(catalogue?.PlanIDs, catalogue?.Plans)}
          useItems={usePlanItems}
          onChange={Plans => change({ Plans })}
        />
      </div>
    </Card>
  );
}

export function NewCataloguePage() {
  const navigate = useNavigate();
  const create = useWrite('POST /portal-api/catalogues', refreshed);
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={{ Name: '', VisibilityStatus: 'Private', Products: [], Plans: [] }}
        sections={sections}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        renderMore={draft => <CatalogueOffer draft={draft} />}
        onSave={async (draft, _changes, accept) => {
          const { value } = await create.mutateAsync({ given: { body: draft as CatalogueWrite } });
          accept();
          const params = { catalogueId: String(value.ID) };
          await navigate({ to: '/admin/catalogues/$catalogueId', params, ignoreBlocker: true });
        }}
      />
    </PageFrame>
  );
}

export function CataloguePage() {
  const { catalogueId } = useParams({ from: '/shell/admin/catalogues/$catalogueId' });
  const params = { catalogue_id: catalogueId };
  const read = useOperation('GET /portal-api/catalogues/{catalogue_id}', { params });
  const catalogue = read.data?.value;
  if (!catalogue)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Name, NameWithSlug, VisibilityStatus, ProductIDs, PlanIDs } = catalogue;
  const stored = { Name, NameWithSlug, VisibilityStatus, Products: ProductIDs, Plans: PlanIDs };
  return <CatalogueEditor catalogue={catalogue} stored={stored} />;
}

function CatalogueEditor({ catalogue, stored }: { catalogue: PortalCatalogue; stored: RecordValue }) {
  const params = { catalogue_id: String(catalogue.ID) };
  const save = useWrite('PUT /portal-api/catalogues/{catalogue_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/catalogues/{catalogue_id}', ['GET /portal-api/catalogues']);
  const toasts = useToasts();
  const { Name } = catalogue;
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
          list="/admin/catalogues"
          done={own.deleted}
          remove={() => remove.mutateAsync({ given: { params } })}
        />
      }
    >
      <div className="flex flex-col gap-4">
        <RecordForm
          key={catalogue.ID}
          stored={stored}
          sections={sections}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          renderMore={draft => <CatalogueOffer draft={draft} catalogue={catalogue} />}
          onSave={async (_draft, changes, accept) => {
            await save.mutateAsync({ given: { params, body: changes as CatalogueChange } });
            accept();
            toasts.showSuccess(adminTexts.forms.saved(Name));
          }}
        />
        <AudienceCard catalogue={catalogue} />
      </div>
    </PageFrame>
  );
}
