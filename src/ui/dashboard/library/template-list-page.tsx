import { Link } from '@tanstack/react-router';
import { LayoutTemplate } from 'lucide-react';
import { useState } from 'react';
import { buttonClass } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { IdText } from '../../kit/copy.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';

const own = texts.library;
type TemplateItem = ResultOf<'GET /api/assets'>[number];

const columns: readonly Column<TemplateItem>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: ({ id, name }) => (
      <Link to="/templates/$assetId" params={{ assetId: id }} className="row-link">
        {name}
      </Link>
    ),
  },
  { id: 'id', title: own.columns.id, cell: ({ id }) => <IdText id={id} /> },
  {
    id: 'about',
    title: own.columns.about,
    cell: ({ description }) => <span className="break-words">{description}</span>,
  },
  { id: 'updated', title: own.columns.updated, cell: ({ last_updated }) => <TimeText time={last_updated} /> },
];

const NewTemplateLink = ({ kind }: { kind: 'primary' }) => (
  <Link to="/templates/new" data-new className={buttonClass(kind)}>
    {own.newTemplate}
  </Link>
);

export function TemplateListPage() {
  const canWrite = usePermission('api_assets:write');
  const list = useOperation('GET /api/assets', { query: {} });
  const [deleting, setDeleting] = useState<TemplateItem>();
  const isEmpty = list.data?.value.length === 0;
  return (
    <PageFrame title={own.templates} actions={canWrite && !isEmpty && <NewTemplateLink kind="primary" />}>
      {!list.data ? (
        <QueryState query={list} />
      ) : isEmpty ? (
        <Notice icon={LayoutTemplate} title={own.emptyTitle} action={canWrite && <NewTemplateLink kind="primary" />}>
          {own.emptyAbout}
        </Notice>
      ) : (
        <DataTable
          label={own.templateList}
          rows={list.data.value}
          columns={columns}
          idOf={({ _id }) => _id}
          nameOf={({ name }) => name}
          isRefreshing={list.isFetching}
          {...(canWrite && {
            actions: (template: TemplateItem) => [
              { label: own.delete, isDanger: true, onSelect: () => setDeleting(template) },
            ],
          })}
        />
      )}
      {deleting && <DeleteTemplate template={deleting} onClose={() => setDeleting(undefined)} />}
    </PageFrame>
  );
}

function DeleteTemplate({ template: { id, name }, onClose }: { template: TemplateItem; onClose(): void }) {
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('DELETE /api/assets/{assetId}', ['GET /api/assets']);
  const remove = () =>
    mutate(
      { given: { params: { assetId: id } } },
      {
        onSuccess: () => toasts.showSuccess(own.deleted(name)),
        onError: error => toasts.showError(error.message),
        onSettled: onClose,
      },
    );
  return (
    <ConfirmDialog
      isOpen
      tier={3}
      canRestore
      title={own.deleteTitle(name)}
      consequence={own.deleteAbout}
      action={own.deleteAction(name)}
      isBusy={isPending}
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
