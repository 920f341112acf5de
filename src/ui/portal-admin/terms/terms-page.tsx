import { useNavigate, useParams } from '@tanstack/react-router';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { TermsStatePill } from './terms-list-page.tsx';

const own = adminTexts.terms;
const onePath = '/portal-api/terms/{terms_id}' as const;
type TermsWrite = ArgumentsOf<'POST /portal-api/terms'>['body'];
type TermsChange = ArgumentsOf<`PUT ${typeof onePath}`>['body'];
const reads = ['GET /portal-api/terms', `GET ${onePath}`] as const;
const shownAcceptances = 100;

const createSections = (isReadOnly: boolean): readonly FormSection[] => [
  {
    title: own.details,
    fields: [
      { name: 'Version', label: own.version, help: own.versionHelp, isRequired: true, isReadOnly },
      { name: 'Content', label: own.content, kind: 'area', rows: 16, isRequired: true, isReadOnly },
      { name: 'Published', label: own.publish, help: own.publishHelp, kind: 'switch', isReadOnly },
    ],
  },
];

export function NewTermsPage() {
  const navigate = useNavigate();
  const create = useWrite('POST /portal-api/terms', reads);
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={{ Version: '', Content: '', Published: false }}
        sections={createSections(false)}
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
  if (!terms)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Version, Content, Published } = terms;
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
          stored={{ Version, Content, Published }}
          sections={createSections(Published)}
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
