import { Link, useNavigate } from '@tanstack/react-router';
import { Building2, Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { createListPage } from '../lists/list-page.tsx';
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
  { id: 'teams', title: own.columns.teams, align: 'right', cell: ({ TeamCount }) => TeamCount },
  { id: 'users', title: own.columns.users, align: 'right', cell: ({ UserCount }) => UserCount },
  { id: 'apps', title: own.columns.apps, align: 'right', cell: ({ AppCount }) => AppCount },
  { id: 'id', title: own.columns.id, cell: ({ ID }) => ID },
];

function CreateOrganisation() {
  const create = useWrite('POST /portal-api/organisations', ['GET /portal-api/organisations']);
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" icon={Plus} data-new onClick={() => setOpen(true)}>
        {own.create}
      </Button>
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
    </>
  );
}

export const OrganisationListPage = createListPage({
  texts: own,
  path: '/admin/organisations',
  icon: Building2,
  columns,
  useRows: query => useOperation('GET /portal-api/organisations', { query }, { keepPrevious: true }),
  nameOf: ({ Name }) => Name,
  searchLabel: adminTexts.forms.search,
  actions: <CreateOrganisation />,
});
