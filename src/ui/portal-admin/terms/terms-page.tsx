import { useNavigate, useParams } from '@tanstack/react-router';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import type { SelectOption } from '../../kit/field.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { TermsStatePill, useTermsProducts } from './terms-list-page.tsx';

const own = adminTexts.terms;
const onePath = '/portal-api/terms/{terms_id}' as const;
type TermsWrite = ArgumentsOf<'POST /portal-api/terms'>['body'];
type TermsChange = ArgumentsOf<`PUT ${typeof onePath}`>['body'];
const reads = ['GET /portal-api/terms', `GET ${onePath}`] as const;
const shownAcceptances = 100;

const createSections = (products: readonly SelectOption[], isReadOnly: boolean): readonly FormSection[] => [
  {
    title: own.details,
    fields: [
      { name: 'Version', label: own.version, help: own.versionHelp, isRequired: true, isReadOnly },
      { name: 'ProductID', label: own.product, help: own.productHelp, kind: 'select', options: products, isReadOnly },
      { name: 'Content', label: own.content, kind: 'area', rows: 16, isRequired: true, isReadOnly },
      { name: 'Published', label: own.publish, help: own.publishHelp, kind: 'switch', isReadOnly },
    ],
  },
];

/** Choices of the product, which include the stored one. */
function useProductOptions(storedId = 0): readonly SelectOption[] {
  const { items, nameOf } = useTermsProducts();
  const ids = new Set(['0', String(storedId), ...items.map(({ id }) => id)]);
  return [...ids].map(id => ({ value: id, label: nameOf(Number(id)) }));
}

export function NewTermsPage() {
  const navigate = useNavigate();
  const create = useWrite('POST /portal-api/terms', reads);
  const products = useProductOptions();
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={{ Version: '', ProductID: '0', Content: '', Published: false }}
        sections={createSections(products, false)}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        onSave={async (draft, _changes, accept) => {
          const { value } = await create.mutateAsync({ given: { body: draft as TermsWrite } });
          accept();
          await navigate({ to: '/admin/terms/$termsId', params: { termsId: String(value.ID) }, ignoreBlocker: true });
        }}
      />
    </PageFrame>
  );
}

export function TermsPage() {
  const { termsId } = useParams({ from: '/shell/admin/terms/$termsId' });
  const params = { terms_id: termsId };
  const read = useOperation(`GET ${onePath}`, { params });
  const save = useWrite(`PUT ${onePath}`, reads);
  const remove = useWrite(`DELETE ${onePath}`, ['GET /portal-api/terms']);
  const toasts = useToasts();
  const terms = read.data?.value;
  const products = useProductOptions(terms?.ProductID);
  if (!terms)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Version, ProductID, Content, Published } = terms;
  return (
    <PageFrame
      title={Version}
      width="form"
      status={<TermsStatePill terms={terms} />}
      actions={
        <DeleteButton
          label={adminTexts.forms.delete}
          action={own.deleteAction(Version)}
          name={Version}
          tier={3}
          consequence={own.deleteConsequence}
          list="/admin/terms"
          done={own.deleted}
          remove={() => remove.mutateAsync({ given: { params } })}
        />
      }
    >
      <div className="flex flex-col gap-4">
        <RecordForm
          key={`${termsId} ${Published}`}
          stored={{ Version, ProductID: String(ProductID), Content, Published }}
          sections={createSections(products, Published)}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          onSave={async (_draft, changes, accept) => {
            await save.mutateAsync({ given: { params, body: changes as TermsChange } });
            accept();
            toasts.showSuccess(adminTexts.forms.saved(Version));
          }}
        />
        {Published && <AcceptanceCard termsId={termsId} />}
      </div>
    </PageFrame>
  );
}

function AcceptanceCard({ termsId }: { termsId: string }) {
  const given = { params: { terms_id: termsId }, query: { per_page: shownAcceptances } };
  const list = useOperation(`GET ${onePath}/acceptances`, given);
  const items = list.data?.value;
  return (
    <Card title={own.acceptances}>
      {!items && <QueryState query={list} />}
      {items?.length === 0 && <p className="text-dim">{own.noAcceptances}</p>}
      <ul className="flex flex-col gap-1">
        {items?.map(({ ID, Email, AcceptedAt, Address }) => (
          <li key={ID} className="break-all">
            {own.acceptedAt(Email, AcceptedAt, Address)}
          </li>
        ))}
      </ul>
    </Card>
  );
}
