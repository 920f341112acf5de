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
type PostState = PostItem['Status'] | 'scheduled';
const tones: Readonly<Record<PostState, Tone>> = {
  draft: 'neutral',
  review: 'warning',
  scheduled: 'warning',
  published: 'success',
};

export const PostStatePill = ({ post: { Status, IsPublic } }: { post: Pick<PostItem, 'Status' | 'IsPublic'> }) => {
  const isScheduled = Status === 'published' && !IsPublic;
  return (
    <StatusPill tone={tones[isScheduled ? 'scheduled' : Status]}>
      {isScheduled ? own.scheduled : own.states[Status]}
    </StatusPill>
  );
};

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
  { id: 'state', title: own.columns.state, cell: post => <PostStatePill post={post} /> },
  { id: 'date', title: own.columns.date, cell: ({ PublishAt, CreatedAt }) => PublishAt || CreatedAt },
];

export const PostListPage = createListPage({
  texts: own,
  path: '/admin/posts',
  icon: Newspaper,
  columns,
  useRows: query => useOperation('GET /portal-api/posts', { query }, { keepPrevious: true }),
  nameOf: ({ Title }) => Title,
});
