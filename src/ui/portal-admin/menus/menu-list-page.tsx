import { Link, useSearch } from '@tanstack/react-router';
import { PanelTop } from 'lucide-react';
import { StatusPill } from '../../kit/badge.tsx';
import type { Column } from '../../kit/data-table.tsx';
import { formatNumber } from '../../kit/format.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows, CreateLink } from '../lists/admin-list.tsx';
import { countHidden, type MenuView, toMenuRows } from './menu-items.ts';

const own = adminTexts.menus;

const columns: readonly Column<MenuView>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: ({ ID, Name }) => (
      <Link to="/admin/menus/$menuId" params={{ menuId: String(ID) }} className="row-link">
        {Name}
      </Link>
    ),
  },
  { id: 'path', title: own.columns.path, cell: ({ Path }) => <code className="break-all">{Path}</code> },
  { id: 'items', title: own.columns.items, cell: ({ Items }) => formatNumber(toMenuRows(Items).length) },
  { id: 'broken', title: own.columns.broken, cell: menu => <MenuStatePill hidden={countHidden(menu)} /> },
];

const MenuStatePill = ({ hidden }: { hidden: number }) => (
  <StatusPill tone={hidden === 0 ? 'success' : 'warning'}>
    {hidden === 0 ? own.allShown : own.broken(hidden)}
  </StatusPill>
);

export function MenuListPage() {
  const { p = 1 } = useSearch({ from: '/shell/admin/menus' });
  const query = { page: p, per_page: adminPageRows };
  const list = useOperation('GET /portal-api/menus', { query }, { keepPrevious: true });
  return (
    <PageFrame title={own.title} about={own.about} actions={<CreateLink to="/admin/menus/new" label={own.create} />}>
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Name }) => Name}
        empty={{ icon: PanelTop, title: own.emptyTitle, about: own.emptyAbout }}
      />
    </PageFrame>
  );
}
