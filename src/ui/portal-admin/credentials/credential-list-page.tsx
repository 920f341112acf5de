import { Link, useSearch } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { IdText } from '../../kit/copy.tsx';
import type { Column } from '../../kit/data-table.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows } from '../lists/admin-list.tsx';
import { ForceChoice } from './force-choice.tsx';
import { type NoticeChoice, NoticeDialog } from './notice-dialog.tsx';

const own = adminTexts.credentials;
type CredentialItem = ResultOf<'GET /portal-api/credentials'>[number];
const states = ['active', 'expiring', 'expired'] as const;
/** Choice among the states that is none of them. */
const unusedFilter = 'unused';
const tones = { active: 'success', expiring: 'warning', expired: 'danger' } as const;

const columns: readonly Column<CredentialItem>[] = [
  {
    id: 'app',
    title: own.columns.app,
    cell: ({ AppID, App }) => (
      <Link to="/admin/apps/$appId" params={{ appId: String(AppID) }} className="row-link">
        {App}
      </Link>
    ),
  },
  {
    id: 'access',
    title: own.columns.access,
    cell: ({ Products, Plan }) => adminTexts.apps.accessOf(Products.join(', '), Plan),
  },
  { id: 'hash', title: own.columns.hash, cell: ({ CredentialHash }) => <IdText id={CredentialHash} /> },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ State }) => <StatusPill tone={tones[State]}>{own.states[State]}</StatusPill>,
  },
  {
    id: 'expires',
    title: own.columns.expires,
    cell: ({ Expires }) => (Expires.startsWith('9999-') ? adminTexts.apps.never : Expires),
  },
  {
    id: 'lastUsed',
    title: own.columns.lastUsed,
    cell: ({ LastUsedAt }) => LastUsedAt || <span title={own.lastUsedHelp}>–</span>,
  },
  { id: 'created', title: own.columns.created, cell: ({ CreatedAt }) => CreatedAt },
];

/** Credentials of all apps, without their keys; a search on the server by app, plan, product and hash. */
export function CredentialListPage() {
  const { p = 1, q = '', state: chosen = '' } = useSearch({ from: '/shell/admin/credentials' });
  const { change, onSearch, clear } = useListChange();
  const state = states.find(it => it === chosen);
  const unused = chosen === unusedFilter;
  const query = { page: p, per_page: adminPageRows, q, ...(state ? { state } : {}), ...(unused ? { unused } : {}) };
  const list = useOperation('GET /portal-api/credentials', { query }, { keepPrevious: true });
  const [revoked, setRevoked] = useState<CredentialItem>();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [noticed, setNoticed] = useState<NoticeChoice>();
  const isFiltered = q !== '' || chosen !== '';
  const matching = { ...(state ? { State: state } : {}), ...(unused ? { Unused: true } : {}), ...(q ? { Q: q } : {}) };
  return (
    <PageFrame
      title={own.title}
      about={own.about}
      actions={isFiltered && <Button onClick={() => setNoticed(matching)}>{own.notifyAll}</Button>}
    >
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ ID, App }) => own.nameOf(ID, App)}
        actions={it => [{ label: own.revoke, isDanger: true, onSelect: () => setRevoked(it) }]}
        toolbar={
          <ListToolbar label={own.search} placeholder={own.search} value={q} onSearch={onSearch}>
            <FilterSelect
              label={own.columns.state}
              value={chosen}
              onChange={event => change({ state: event.target.value })}
              options={[
                { value: '', label: own.anyState },
                ...states.map(value => ({ value, label: own.states[value] })),
                { value: unusedFilter, label: own.unusedFilter },
              ]}
            />
          </ListToolbar>
        }
        selection={{
          ids,
          onChange: setIds,
          actions: <Button onClick={() => setNoticed({ IDs: [...ids].map(Number) })}>{own.notify}</Button>,
        }}
        isFiltered={isFiltered}
        onClearFilters={clear}
        empty={{ icon: KeyRound, title: own.emptyTitle, about: own.emptyAbout }}
      />
      {noticed && <NoticeDialog choice={noticed} onClose={() => setNoticed(undefined)} />}
      {revoked && <RevokeDialog credential={revoked} onClose={() => setRevoked(undefined)} />}
    </PageFrame>
  );
}

function RevokeDialog({ credential, onClose }: { credential: CredentialItem; onClose(): void }) {
  const route = 'DELETE /portal-api/apps/{app_id}/access-requests/{access-request_id}/credentials/{credential_id}';
  const remove = useWrite(route, ['GET /portal-api/credentials']);
  const toasts = useToasts();
  const [isForced, setForced] = useState(false);
  const { ID, App, AppID, AccessRequestID } = credential;
  const params = { app_id: String(AppID), access_request_id: String(AccessRequestID), credential_id: String(ID) };
  return (
    <ConfirmDialog
      isOpen
      tier={3}
      title={`${own.revokeAction(App)}?`}
      consequence={own.revokeConsequence}
      action={own.revokeAction(App)}
      isBusy={remove.isPending}
      onConfirm={() =>
        remove.mutate(
          { given: { params, query: { force: isForced } } },
          {
            onSuccess: () => toasts.showSuccess(own.revoked(App)),
            onError: error => toasts.showError(error.message),
            onSettled: onClose,
          },
        )
      }
      onClose={onClose}
    >
      <ForceChoice isForced={isForced} onChange={setForced} />
    </ConfirmDialog>
  );
}
