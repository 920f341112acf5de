import { Palette, Upload } from 'lucide-react';
import { useState } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { submitSiteForm } from '../forms/submit-form.ts';
import { AdminList } from '../lists/admin-list.tsx';
import { ThemeUploadDialog } from './theme-upload-dialog.tsx';

const own = adminTexts.themes;
const refreshed = ['GET /portal-api/themes'] as const;

type ThemeItem = ResultOf<'GET /portal-api/themes'>[number];
type ThemeAction = 'activate' | 'delete';

const columns: readonly Column<ThemeItem>[] = [
  { id: 'name', title: own.columns.name, cell: ({ Name }) => <span className="font-medium break-words">{Name}</span> },
  { id: 'author', title: own.columns.author, cell: ({ Author }) => Author || '–' },
  { id: 'version', title: own.columns.version, cell: ({ Version }) => Version },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ Status }) => (
      <StatusPill tone={Status === 'Current' ? 'success' : 'neutral'}>{own.states[Status]}</StatusPill>
    ),
  },
];

export function ThemeListPage() {
  const list = useOperation('GET /portal-api/themes', {});
  const [isUploading, setUploading] = useState(false);
  const [pending, setPending] = useState<{ readonly theme: ThemeItem; readonly action: ThemeAction }>();
  return (
    <PageFrame
      title={own.title}
      about={own.about}
      actions={
        <Button kind="primary" icon={Upload} data-new onClick={() => setUploading(true)}>
          {own.upload}
        </Button>
      }
    >
      <AdminList
        label={own.title}
        query={list}
        page={1}
        columns={columns}
        idOf={({ ID }) => ID}
        nameOf={({ Name }) => Name}
        actions={theme => [
          {
            label: own.preview,
            onSelect: () => submitSiteForm('/portal/private/theme-preview', '_blank', { theme: theme.ID }),
          },
          { label: own.download, onSelect: () => location.assign(theme.Path) },
          ...(theme.Status === 'Current'
            ? []
            : [{ label: own.activate, onSelect: () => setPending({ theme, action: 'activate' as const }) }]),
          ...(theme.Status === 'Current' || theme.ID === 'default'
            ? []
            : [
                'line' as const,
                { label: own.delete, isDanger: true, onSelect: () => setPending({ theme, action: 'delete' as const }) },
              ]),
        ]}
        empty={{ icon: Palette, title: own.title, about: own.about }}
      />
      {isUploading && <ThemeUploadDialog onClose={() => setUploading(false)} />}
      {pending && <ThemeConfirmation {...pending} onClose={() => setPending(undefined)} />}
    </PageFrame>
  );
}

interface ThemeConfirmationProps {
  readonly theme: ThemeItem;
  readonly action: ThemeAction;
  onClose(): void;
}

function ThemeConfirmation({ theme: { ID, Name }, action, onClose }: ThemeConfirmationProps) {
  const activate = useWrite('PUT /portal-api/themes/{theme_id}/activate', refreshed);
  const remove = useWrite('DELETE /portal-api/themes/{theme_id}', refreshed);
  const toasts = useToasts();
  const isActivation = action === 'activate';
  const given = { params: { theme_id: ID } };
  const reply = {
    onSuccess: () => toasts.showSuccess(isActivation ? own.activated(Name) : own.deleted),
    onError: (error: Error) => toasts.showError(error.message),
    onSettled: onClose,
  };
  return (
    <ConfirmDialog
      isOpen
      tier={isActivation ? 2 : 3}
      title={isActivation ? own.activateTitle(Name) : `${own.deleteAction(Name)}?`}
      consequence={isActivation ? own.activateConsequence : own.deleteConsequence}
      action={isActivation ? own.activateAction(Name) : own.deleteAction(Name)}
      isBusy={activate.isPending || remove.isPending}
      onConfirm={() => (isActivation ? activate.mutate({ given }, reply) : remove.mutate({ given }, reply))}
      onClose={onClose}
    />
  );
}
