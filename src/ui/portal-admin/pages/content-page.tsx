import { useNavigate, useParams } from '@tanstack/react-router';
import { buttonClass } from '../../kit/button.tsx';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { ContentBlocks } from './content-blocks.tsx';
import { ContentStatePill } from './content-list-page.tsx';

const own = adminTexts.pages;
const refreshed = ['GET /portal-api/pages', 'GET /portal-api/pages/{page_id}'] as const;
type PageWrite = ArgumentsOf<'POST /portal-api/pages'>['body'];
type PageChange = ArgumentsOf<'PUT /portal-api/pages/{page_id}'>['body'];

const sections: readonly FormSection[] = [
  {
    title: own.details,
    fields: [
      { name: 'Title', label: own.columns.title, isRequired: true },
      { name: 'Path', label: own.columns.path, help: own.pathHelp, isRequired: true, isMono: true },
      { name: 'Template', label: own.columns.template, help: own.templateHelp, isRequired: true },
      {
        name: 'Status',
        label: own.columns.state,
        kind: 'select',
        options: Object.entries(own.states).map(([value, label]) => ({ value, label })),
      },
    ],
  },
];

export function NewContentPage() {
  const navigate = useNavigate();
  const create = useWrite('POST /portal-api/pages', refreshed);
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={{ Title: '', Path: '/', Template: 'page', Status: 'Draft' }}
        sections={sections}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        onSave={async (draft, _changes, accept) => {
          const { value } = await create.mutateAsync({ given: { body: draft as PageWrite } });
          accept();
          await navigate({ to: '/admin/pages/$pageId', params: { pageId: String(value.ID) }, ignoreBlocker: true });
        }}
      />
    </PageFrame>
  );
}

export function ContentPage() {
  const { pageId } = useParams({ from: '/shell/admin/pages/$pageId' });
  const params = { page_id: pageId };
  const read = useOperation('GET /portal-api/pages/{page_id}', { params });
  const save = useWrite('PUT /portal-api/pages/{page_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/pages/{page_id}', ['GET /portal-api/pages']);
  const toasts = useToasts();
  const page = read.data?.value;
  if (!page)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Title, Path, Template, Status } = page;
  return (
    <PageFrame
      title={Title}
      width="form"
      status={<ContentStatePill state={Status} />}
      actions={
        <>
          <DeleteButton
            label={adminTexts.forms.delete}
            action={own.deleteAction(Title)}
            name={Title}
            tier={3}
            consequence={own.deleteConsequence}
            list="/admin/pages"
            done={own.deleted}
            remove={() => remove.mutateAsync({ given: { params } })}
          />
          <a href={Path} target="_blank" rel="noreferrer" className={buttonClass()}>
            {own.view}
          </a>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ContentBlocks pageId={pageId} />
        <RecordForm
          key={pageId}
          stored={{ Title, Path, Template, Status }}
          sections={sections}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          onSave={async (draft, changes, accept) => {
            await save.mutateAsync({ given: { params, body: changes as PageChange } });
            accept();
            toasts.showSuccess(adminTexts.forms.saved(String(draft.Title)));
          }}
        />
      </div>
    </PageFrame>
  );
}
