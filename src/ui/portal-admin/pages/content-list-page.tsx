import { Link } from '@tanstack/react-router';
import { FileText } from 'lucide-react';
import { StatusPill } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { createListPage } from '../lists/list-page.tsx';

const own = adminTexts.pages;

type PageItem = ResultOf<'GET /portal-api/pages'>[number];

const columns: readonly Column<PageItem>[] = [
  {
    id: 'title',
    title: own.columns.title,
    cell: ({ ID, Title }) => (
      <Link to="/admin/pages/$pageId" params={{ pageId: String(ID) }} className="row-link">
        {Title}
      </Link>
    ),
  },
  { id: 'path', title: own.columns.path, cell: ({ Path }) => <code className="break-all">{Path}</code> },
  { id: 'template', title: own.columns.template, cell: ({ Template }) => Template },
  { id: 'state', title: own.columns.state, cell: ({ Status }) => <ContentStatePill state={Status} /> },
];

export const ContentStatePill = ({ state }: { state: PageItem['Status'] }) => (
  <StatusPill tone={state === 'Published' ? 'success' : 'neutral'}>{own.states[state]}</StatusPill>
);

export const ContentListPage = createListPage({
  texts: own,
  path: '/admin/pages',
  icon: FileText,
  columns,
  useRows: query => useOperation('GET /portal-api/pages', { query }, { keepPrevious: true }),
  nameOf: ({ Title }) => Title,
});
