import { Link, useSearch } from '@tanstack/react-router';
import { FileText } from 'lucide-react';
import { StatusPill } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows, CreateLink } from '../lists/admin-list.tsx';

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

export function ContentListPage() {
  const { p = 1 } = useSearch({ from: '/shell/admin/pages' });
  const query = { page: p, per_page: adminPageRows };
  const list = useOperation('GET /portal-api/pages', { query }, { keepPrevious: true });
  return (
    <PageFrame title={own.title} about={own.about} actions={<CreateLink to="/admin/pages/new" label={own.create} />}>
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Title }) => Title}
        empty={{ icon: FileText, title: own.emptyTitle, about: own.emptyAbout }}
      />
    </PageFrame>
  );
}
