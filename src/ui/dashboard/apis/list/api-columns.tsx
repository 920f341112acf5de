import { Link } from '@tanstack/react-router';
import { Badge } from '../../../kit/badge.tsx';
import type { Column } from '../../../kit/data-table.tsx';
import { Disclosure } from '../../../kit/disclosure.tsx';
import { TimeText } from '../../../kit/time-text.tsx';
import { apiListTexts } from '../../../texts/en/api-list.ts';
import { texts } from '../../../texts/texts.ts';
import type { ApiOutline } from '../api-outline.ts';
import { CallCount, type CountedRow, ErrorShare } from './api-usage.tsx';
import { ServedState } from './served-state.tsx';

const own = texts.apis;
const { columns: titles } = apiListTexts;
type ApiRow = ApiOutline & CountedRow;

const nameColumn: Column<ApiRow> = {
  id: 'name',
  title: own.columns.name,
  sort: 'name',
  cell: api => (
    <>
      <ApiLink id={api.id} name={api.name || api.id} />
      {api.isBase && <VersionLinks {...api} />}
    </>
  ),
};

const ApiLink = ({ id, name }: { id: string; name: string }) => (
  <Link to="/apis/$apiId" params={{ apiId: id }} className="row-link">
    {name}
  </Link>
);

/** Versions of a base, which are APIs of their own. */
const VersionLinks = ({ versions }: ApiRow) => (
  <Disclosure
    className="text-small"
    summary={<span className="text-dim">{apiListTexts.versions(versions.length)}</span>}
  >
    <ul className="flex flex-col gap-1 py-1 pl-6">
      {versions.map(({ id, name }) => (
        <li key={id}>
          <ApiLink id={id} name={name} />
        </li>
      ))}
    </ul>
  </Disclosure>
);

const factColumns: readonly Column<ApiRow>[] = [
  { id: 'format', title: own.columns.format, cell: ({ format }) => <Badge>{own.formats[format]}</Badge> },
  {
    id: 'path',
    title: own.columns.path,
    cell: ({ listenPath }) => <code className="font-mono text-small break-all">{listenPath}</code>,
  },
  {
    id: 'authentication',
    title: own.columns.authentication,
    cell: ({ authentication }) => authentication.map(it => own.authentication[it] ?? it).join(', '),
  },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ id, isActive }) => <ServedState id={id} isActive={isActive} />,
  },
];

const usageColumns: readonly Column<ApiRow>[] = [
  {
    id: 'calls',
    title: titles.calls,
    align: 'right',
    cell: ({ id, neighbours }) => <CallCount id={id} neighbours={neighbours} />,
  },
  {
    id: 'errors',
    title: titles.errors,
    align: 'right',
    cell: ({ id, neighbours }) => <ErrorShare id={id} neighbours={neighbours} />,
  },
];

const lastColumns: readonly Column<ApiRow>[] = [
  { id: 'categories', title: titles.categories, isOptional: true, cell: ({ categories }) => categories.join(', ') },
  {
    id: 'owners',
    title: titles.owners,
    isOptional: true,
    cell: api => apiListTexts.owners(api.userOwners, api.groupOwners),
  },
  {
    id: 'updated',
    title: own.columns.updated,
    sort: 'updated_at',
    cell: ({ updatedAt }) => <TimeText time={updatedAt} />,
  },
];

/** Columns of the list of APIs; requests only for a user who may read them. */
export const createApiColumns = (hasUsage: boolean): readonly Column<ApiRow>[] => [
  nameColumn,
  ...factColumns,
  ...(hasUsage ? usageColumns : []),
  ...lastColumns,
];
