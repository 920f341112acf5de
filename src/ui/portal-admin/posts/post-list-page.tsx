import { Link, useSearch } from '@tanstack/react-router';
import { Newspaper } from 'lucide-react';
import { StatusPill, type Tone } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows, CreateLink } from '../lists/admin-list.tsx';

const own = adminTexts.posts;

type PostItem = ResultOf<'GET /portal-api/posts'>[number];
const tones: Readonly<Record<PostItem['Status'], Tone>> = { draft: 'neutral', review: 'warning', published: 'success' };

export const PostStatePill = ({ state }: { state: PostItem['Status'] }) => (
  <StatusPill tone={tones[state]}>{own.states[state]}</StatusPill>
);

const columns: readonly Column<PostItem>[] = [
  {
    id: 'title',
    title: own.columns.title,
    cell: ({ ID, Title }) => (
      <Link to="/admin/posts/$postId" params={{ postId: String(ID) }} className="row-link">
        {Title}
      </Link>
    ),
  },
  { id: 'path', title: own.columns.path, cell: ({ Path }) => <code className="break-all">{Path}</code> },
  { id: 'state', title: own.columns.state, cell: ({ Status }) => <PostStatePill state={Status} /> },
  { id: 'created', title: own.columns.created, cell: ({ CreatedAt }) => CreatedAt },
];

export function PostListPage() {
  const { p = 1 } = useSearch({ from: '/shell/admin/posts' });
  const query = { page: p, per_page: adminPageRows };
  const list = useOperation('GET /portal-api/posts', { query }, { keepPrevious: true });
  return (
    <PageFrame title={own.title} about={own.about} actions={<CreateLink to="/admin/posts/new" label={own.create} />}>
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Title }) => Title}
        empty={{ icon: Newspaper, title: own.emptyTitle, about: own.emptyAbout }}
      />
    </PageFrame>
  );
}
