import { Link } from '@tanstack/react-router';
import { Newspaper } from 'lucide-react';
import { StatusPill, type Tone } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { createListPage } from '../lists/list-page.tsx';

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

export const PostListPage = createListPage({
  texts: own,
  path: '/admin/posts',
  icon: Newspaper,
  columns,
  useRows: query => useOperation('GET /portal-api/posts', { query }, { keepPrevious: true }),
  nameOf: ({ Title }) => Title,
});
