import { Link } from '@tanstack/react-router';
import { PanelTop } from 'lucide-react';
import { StatusPill } from '../../kit/badge.tsx';
import type { Column } from '../../kit/data-table.tsx';
import { formatNumber } from '../../kit/format.ts';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { createListPage } from '../lists/list-page.tsx';
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

export const MenuListPage = createListPage({
  texts: own,
  path: '/admin/menus',
  icon: PanelTop,
  columns,
  useRows: query => useOperation('GET /portal-api/menus', { query }, { keepPrevious: true }),
  nameOf: ({ Name }) => Name,
});
