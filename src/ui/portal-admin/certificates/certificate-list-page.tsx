import { Link, useSearch } from '@tanstack/react-router';
import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { IdText } from '../../kit/copy.tsx';
import type { Column } from '../../kit/data-table.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows } from '../lists/admin-list.tsx';
import { RemovePart } from '../products/remove-part.tsx';
import { validityTones } from './validity-tones.ts';

const own = adminTexts.certificates;
type CertificateItem = ResultOf<'GET /portal-api/certificates'>[number];
const states = ['valid', 'expiring', 'expired', 'not valid yet'] as const;

const columns: readonly Column<CertificateItem>[] = [
  { id: 'name', title: own.columns.name, cell: ({ Name }) => <span className="break-words">{Name}</span> },
  {
    id: 'app',
    title: own.columns.app,
    cell: ({ AppID, App }) => (
      <Link to="/admin/apps/$appId" params={{ appId: String(AppID) }} className="row-link font-medium">
        {App}
      </Link>
    ),
  },
  {
    id: 'owner',
    title: own.columns.owner,
    cell: ({ UserID, UserEmail }) => (
      <Link to="/admin/users/$userId" params={{ userId: String(UserID) }} className="row-link break-all">
        {UserEmail}
      </Link>
    ),
  },
  { id: 'fingerprint', title: own.columns.fingerprint, cell: ({ Fingerprint }) => <IdText id={Fingerprint} /> },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ State }) => <StatusPill tone={validityTones[State]}>{own.states[State]}</StatusPill>,
  },
  { id: 'expires', title: own.columns.expires, cell: ({ NotAfter }) => NotAfter },
  { id: 'uses', title: own.columns.uses, cell: ({ Credentials }) => Credentials.length || own.unused },
];

/** Client certificates of all apps; a search on the server. One that no credential uses can be deleted. */
export function AppCertificateListPage() {
  const { p = 1, q = '', state: chosen = '' } = useSearch({ from: '/shell/admin/certificates' });
  const { change, onSearch, clear } = useListChange();
  const state = states.find(it => it === chosen);
  const query = { page: p, per_page: adminPageRows, q, ...(state ? { state } : {}) };
  const list = useOperation('GET /portal-api/certificates', { query }, { keepPrevious: true });
  const [removed, setRemoved] = useState<CertificateItem>();
  return (
    <PageFrame title={own.title} about={own.about}>
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Name }) => Name}
        actions={it =>
          it.Credentials.length === 0 ? [{ label: own.remove, isDanger: true, onSelect: () => setRemoved(it) }] : []
        }
        toolbar={
          <ListToolbar label={own.search} placeholder={own.search} value={q} onSearch={onSearch}>
            <FilterSelect
              label={own.columns.state}
              value={chosen}
              onChange={event => change({ state: event.target.value })}
              options={[
                { value: '', label: own.anyState },
                ...states.map(value => ({ value, label: own.states[value] })),
              ]}
            />
          </ListToolbar>
        }
        isFiltered={q !== '' || chosen !== ''}
        onClearFilters={clear}
        empty={{ icon: ShieldCheck, title: own.emptyTitle, about: own.emptyAbout }}
      />
      {removed && <RemoveCertificate certificate={removed} onClose={() => setRemoved(undefined)} />}
    </PageFrame>
  );
}

function RemoveCertificate({ certificate, onClose }: { certificate: CertificateItem; onClose(): void }) {
  const { ID, AppID, Name } = certificate;
  const route = 'DELETE /portal-api/apps/{app_id}/certificates/{certificate_id}';
  const remove = useWrite(route, ['GET /portal-api/certificates']);
  const toasts = useToasts();
  const params = { app_id: String(AppID), certificate_id: String(ID) };
  return (
    <RemovePart
      action={own.removeAction(Name)}
      consequence={own.removeConsequence}
      remove={async () => {
        await remove.mutateAsync({ given: { params } });
        toasts.showSuccess(own.removed(Name));
      }}
      onClose={onClose}
    />
  );
}
