import { Link } from '@tanstack/react-router';
import { Ticket } from 'lucide-react';
import { StatusPill } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { CopyButton } from '../../kit/copy.tsx';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { createListPage } from '../lists/list-page.tsx';

const own = adminTexts.inviteCodes;
type CodeItem = ResultOf<'GET /portal-api/invite-codes'>[number];

const columns: readonly Column<CodeItem>[] = [
  {
    id: 'code',
    title: own.columns.code,
    cell: ({ ID, Code, URL: url }) => (
      <span className="inline-flex items-center gap-1">
        <Link to="/admin/invite_codes/$codeId" params={{ codeId: String(ID) }} className="row-link break-all">
          {Code}
        </Link>
        <CopyButton text={url} label={`${own.link} ${ID}`} />
      </span>
    ),
  },
  { id: 'team', title: own.columns.team, cell: ({ Team }) => Team },
  { id: 'used', title: own.columns.used, cell: ({ Used, Quota }) => own.usedOf(Used, Quota) },
  { id: 'expires', title: own.columns.expires, cell: ({ Expires }) => Expires || own.never },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ Active }) => (
      <StatusPill tone={Active ? 'success' : 'neutral'}>{Active ? own.active : own.inactive}</StatusPill>
    ),
  },
];

export const InviteCodeListPage = createListPage({
  texts: own,
  path: '/admin/invite_codes',
  icon: Ticket,
  columns,
  useRows: query => useOperation('GET /portal-api/invite-codes', { query }, { keepPrevious: true }),
  nameOf: ({ Code }) => Code,
});
