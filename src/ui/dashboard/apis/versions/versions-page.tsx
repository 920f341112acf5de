import { Link } from '@tanstack/react-router';
import { Layers, Plus } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../kit/badge.tsx';
import { Button, buttonClass } from '../../../kit/button.tsx';
import { Card } from '../../../kit/card.tsx';
import { type Column, DataTable } from '../../../kit/data-table.tsx';
import { ConfirmDialog } from '../../../kit/dialog.tsx';
import { formatTime } from '../../../kit/format.ts';
import { useOperation, useWrite } from '../../../kit/queries.ts';
import { Notice, QueryState } from '../../../kit/states.tsx';
import { useToasts } from '../../../kit/toast.tsx';
import { versionChangeTexts as changeTexts } from '../../../texts/en/version-changes.ts';
import { versionTexts } from '../../../texts/en/versions.ts';
import { texts } from '../../../texts/texts.ts';
import { useApiNames } from '../../pickers/api-picker.tsx';
import { usePermission } from '../../session/session.ts';
import { ApiFrame, type LoadedApi } from '../api-frame.tsx';
import { ClassicNotice } from '../designer/classic-notice.tsx';
import { readFieldValue, toJsonObject } from '../form/json-members.ts';
import { gatewayMember } from '../form/use-definition-schema.ts';
import { CallCount, type CountedRow, withNeighbours } from '../list/api-usage.tsx';
import { NewVersionDialog } from './new-version-dialog.tsx';
import { readExpiry } from './version-changes.ts';
import {
  CompareVersionsDialog,
  type ListedVersion,
  RenameVersionDialog,
  RetireVersionDialog,
} from './version-dialogs.tsx';
import { VersioningForm } from './versioning-form.tsx';

const own = versionTexts;

type Version = ListedVersion & CountedRow;

/** In the time zone of the user, as the dialog; a text that is no time stays as it is. */
function formatExpiry(text: string): string {
  const seconds = readExpiry(text);
  return seconds > 0 ? formatTime(seconds * 1000) : text || texts.kit.never;
}

const factColumns: readonly Column<Version>[] = [
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
  { id: 'expiry', title: own.expiry, cell: ({ expirationDate }) => formatExpiry(expirationDate) },
];

const callColumn: Column<Version> = {
  id: 'calls',
  title: changeTexts.calls,
  align: 'right',
  cell: ({ id, neighbours }) => <CallCount id={id} neighbours={neighbours} />,
};
const allColumns = [...factColumns, callColumn];

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
  const base = useBase(loaded.api, !isBase);
  if (base.isPending) return <QueryState query={base} />;
  if (base.id) return <BaseNotice apiId={base.id} />;
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

/** Id of the base of a version: a header of its document has it. */
function useBase({ id: apiId, format }: LoadedApi['api'], canHaveBase: boolean) {
  const enabled = canHaveBase && format === 'oas';
  const { data, error, isLoading, refetch } = useOperation(
    'GET /api/apis/oas/{apiId}',
    { params: { apiId } },
    { enabled },
  );
  return { id: data?.headers.get('x-gw-base-api-id') ?? '', isPending: isLoading, error, refetch };
}

/** Versions belong to their base: its page lists them and adds others. */
function BaseNotice({ apiId }: { apiId: string }) {
  const name = useApiNames([apiId])(apiId);
  const link = (
    <Link to="/apis/$apiId/versions" params={{ apiId }} className={buttonClass('primary')}>
      {own.openBase(name)}
    </Link>
  );
  return (
    <Notice icon={Layers} title={own.isVersion(name)} action={link}>
      {own.isVersionAbout}
    </Notice>
  );
}

interface OpenDialog {
  readonly kind: 'promote' | 'rename' | 'retire';
  readonly version: Version;
}

function VersionList({ api, reload }: LoadedApi) {
  const canWrite = usePermission('apis:write');
  const canSeeUsage = usePermission('analytics');
  const [open, setOpen] = useState<OpenDialog>();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isComparing, setComparing] = useState(false);
  const list = useOperation('GET /api/apis/oas/{apiId}/versions', { params: { apiId: api.id } });
  if (!list.data) return <QueryState query={list} />;
  const rows = withNeighbours(list.data.value.apis);
  const [one, other] = rows.filter(({ id }) => selected.has(id));
  const close = () => setOpen(undefined);
  const actionsOf = (version: Version) => [
    { label: changeTexts.rename, onSelect: () => setOpen({ kind: 'rename', version }) },
    { label: changeTexts.retire, onSelect: () => setOpen({ kind: 'retire', version }) },
    { label: own.promote, isDisabled: version.id === api.id, onSelect: () => setOpen({ kind: 'promote', version }) },
  ];
  return (
    <>
      <DataTable
        label={own.list}
        rows={rows}
        columns={canSeeUsage ? allColumns : factColumns}
        idOf={({ id }) => id}
        nameOf={({ versionName }) => versionName}
        selection={{
          ids: selected,
          onChange: setSelected,
          actions: (
            <Button disabled={selected.size !== 2} onClick={() => setComparing(true)}>
              {changeTexts.compare}
            </Button>
          ),
        }}
        {...(canWrite ? { actions: actionsOf } : {})}
      />
      <PromoteDialog
        api={api}
        version={open?.kind === 'promote' ? open.version : undefined}
        onClose={close}
        reload={reload}
      />
      {open?.kind === 'rename' && (
        <RenameVersionDialog
          version={open.version}
          baseId={api.id}
          names={rows.map(({ versionName }) => versionName)}
          onClose={close}
        />
      )}
      {open?.kind === 'retire' && <RetireVersionDialog version={open.version} onClose={close} />}
      {isComparing && one && other && (
        <CompareVersionsDialog versions={[one, other]} onClose={() => setComparing(false)} />
      )}
    </>
  );
}

interface PromoteProps extends Pick<LoadedApi, 'api' | 'reload'> {
  readonly version: Version | undefined;
  onClose(): void;
}

function PromoteDialog({ api, reload, version, onClose }: PromoteProps) {
  const toasts = useToasts();
  const rebase = useWrite('PATCH /api/apis/oas/{currentBaseApiId}/rebase/{nextBaseApiId}', [
    'GET /api/apis',
    'GET /api/apis/{apiId}',
  ]);
  const name = version?.versionName ?? '';
  const promote = () =>
    rebase.mutate(
      {
        given: { params: { currentBaseApiId: api.id, nextBaseApiId: version?.id ?? '' } },
        options: { wait: 'applied' },
      },
      {
        onSuccess: () => {
          toasts.showSuccess(own.promoted(name));
          void reload();
        },
        onError: error => toasts.showError(error.message),
        onSettled: onClose,
      },
    );
  return (
    <ConfirmDialog
      isOpen={version !== undefined}
      tier={2}
      title={own.promoteTitle(name)}
      consequence={own.promoteAbout}
      action={own.promoteAction(name)}
      isBusy={rebase.isPending}
      onConfirm={promote}
      onClose={onClose}
    />
  );
}
