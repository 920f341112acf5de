import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Building2, Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows } from '../lists/admin-list.tsx';
import { NameDialog } from '../lists/name-dialog.tsx';

const own = adminTexts.organisations;

type OrganisationItem = ResultOf<'GET /portal-api/organisations'>[number];

const columns: readonly Column<OrganisationItem>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: organisation => (
      <Link
        to="/admin/organisations/$organisationId"
        params={{ organisationId: String(organisation.ID) }}
        className="row-link"
      >
        {organisation.Name}
      </Link>
    ),
  },
  { id: 'id', title: own.columns.id, cell: ({ ID }) => ID },
];

export function OrganisationListPage() {
  const { p = 1 } = useSearch({ from: '/shell/admin/organisations' });
  const query = { page: p, per_page: adminPageRows };
  const list = useOperation('GET /portal-api/organisations', { query }, { keepPrevious: true });
  const create = useWrite('POST /portal-api/organisations', ['GET /portal-api/organisations']);
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  return (
    <PageFrame
      title={own.title}
      about={own.about}
      actions={
        <Button kind="primary" icon={Plus} data-new onClick={() => setOpen(true)}>
          {own.create}
        </Button>
      }
    >
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Name }) => Name}
        empty={{ icon: Building2, title: own.emptyTitle, about: own.emptyAbout }}
      />
      <NameDialog
        key={String(isOpen)}
        isOpen={isOpen}
        title={own.create}
        label={own.columns.name}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        onClose={() => setOpen(false)}
        onSave={async Name => {
          const { value } = await create.mutateAsync({ given: { body: { Name } } });
          const params = { organisationId: String(value.ID) };
          await navigate({ to: '/admin/organisations/$organisationId', params });
        }}
      />
    </PageFrame>
  );
}
