import { Link } from '@tanstack/react-router';
import { Layers, Plus } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../kit/badge.tsx';
import { Button } from '../../../kit/button.tsx';
import type { ResultOf } from '../../../kit/calls.ts';
import { Card } from '../../../kit/card.tsx';
import { type Column, DataTable } from '../../../kit/data-table.tsx';
import { ConfirmDialog } from '../../../kit/dialog.tsx';
import { useOperation, useWrite } from '../../../kit/queries.ts';
import { Notice, QueryState } from '../../../kit/states.tsx';
import { useToasts } from '../../../kit/toast.tsx';
import { texts } from '../../../texts/texts.ts';
import { usePermission } from '../../session/session.ts';
import { ApiFrame, type LoadedApi } from '../api-frame.tsx';
import { ClassicNotice } from '../designer/classic-notice.tsx';
import { readFieldValue, toJsonObject } from '../form/json-members.ts';
import { gatewayMember } from '../form/use-definition-schema.ts';
import { NewVersionDialog } from './new-version-dialog.tsx';
import { VersioningForm } from './versioning-form.tsx';

const own = texts.versions;

type Version = ResultOf<'GET /api/apis/oas/{apiId}/versions'>['apis'][number];

const columns: readonly Column<Version>[] = [
  {
    id: 'version',
    title: own.version,
    cell: ({ versionName, isDefaultVersion }) => (
      <span className="inline-flex items-center gap-2">
        <code className="font-mono">{versionName}</code>
        {isDefaultVersion && <Badge tone="info">{own.isDefault}</Badge>}
      </span>
    ),
  },
  {
    id: 'api',
    title: own.api,
    cell: ({ id, name }) => (
      <Link to="/apis/$apiId" params={{ apiId: id }} className="row-link">
        {name || id}
      </Link>
    ),
  },
  { id: 'access', title: own.access, cell: ({ internal }) => (internal ? own.internal : own.external) },
  { id: 'expiry', title: own.expiry, cell: ({ expirationDate }) => expirationDate || texts.kit.never },
];

/** Versions of an API: APIs of their own, selected by a part of the request. */
export const ApiVersionsPage = () => (
  <ApiFrame>
    {loaded =>
      loaded.api.format === 'classic' ? <ClassicNotice {...loaded} /> : <Versions key={loaded.api.id} {...loaded} />
    }
  </ApiFrame>
);

function Versions(loaded: LoadedApi) {
  const canWrite = usePermission('apis:write');
  const [isAdding, setAdding] = useState(false);
  const versioning = toJsonObject(readFieldValue(loaded.definition, [gatewayMember, 'info', 'versioning']));
  const isBase = Array.isArray(versioning.versions) && versioning.versions.length > 0;
  return (
    <div className="flex flex-col gap-4">
      {canWrite && (
        <div>
          <Button icon={Plus} onClick={() => setAdding(true)}>
            {own.create}
          </Button>
        </div>
      )}
      {isBase ? (
        <>
          <VersionList {...loaded} />
          <Card title={own.identifier}>
            <VersioningForm {...loaded} />
          </Card>
        </>
      ) : (
        <Notice icon={Layers} title={own.emptyTitle}>
          {own.emptyAbout}
        </Notice>
      )}
      <NewVersionDialog
        isOpen={isAdding}
        loaded={loaded}
        baseName={String(versioning.name ?? '')}
        onClose={() => setAdding(false)}
      />
    </div>
  );
}

function VersionList({ api, reload }: LoadedApi) {
  const canWrite = usePermission('apis:write');
  const toasts = useToasts();
  const [promoted, setPromoted] = useState<Version>();
  const list = useOperation('GET /api/apis/oas/{apiId}/versions', { params: { apiId: api.id } });
  const rebase = useWrite('PATCH /api/apis/oas/{currentBaseApiId}/rebase/{nextBaseApiId}', [
    'GET /api/apis',
    'GET /api/apis/{apiId}',
  ]);
  if (!list.data) return <QueryState query={list} />;
  const promote = () =>
    rebase.mutate(
      {
        given: { params: { currentBaseApiId: api.id, nextBaseApiId: promoted?.id ?? '' } },
        options: { wait: 'applied' },
      },
      {
        onSuccess: () => {
          toasts.showSuccess(own.promoted(promoted?.versionName ?? ''));
          void reload();
        },
        onError: error => toasts.showError(error.message),
        onSettled: () => setPromoted(undefined),
      },
    );
  return (
    <>
      <DataTable
        label={own.list}
        rows={list.data.value.apis}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={({ versionName }) => versionName}
        {...(canWrite
          ? {
              actions: (row: Version) => [
                { label: own.promote, isDisabled: row.id === api.id, onSelect: () => setPromoted(row) },
              ],
            }
          : {})}
      />
      <ConfirmDialog
        isOpen={promoted !== undefined}
        tier={2}
        title={own.promoteTitle(promoted?.versionName ?? '')}
        consequence={own.promoteAbout}
        action={own.promoteAction(promoted?.versionName ?? '')}
        isBusy={rebase.isPending}
        onConfirm={promote}
        onClose={() => setPromoted(undefined)}
      />
    </>
  );
}
