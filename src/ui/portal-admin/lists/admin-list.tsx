import { Link } from '@tanstack/react-router';
import { type LucideIcon, Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { buttonClass } from '../../kit/button.tsx';
import { DataTable, type DataTableProps } from '../../kit/data-table.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { Notice, QueryState } from '../../kit/states.tsx';

/** Rows of a page of a list. */
export const adminPageRows = 50;

interface ListQuery<Row> {
  readonly data: { readonly value: readonly Row[] } | undefined;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly isFetching: boolean;
  refetch(): unknown;
}

export interface AdminListProps<Row>
  extends Pick<
    DataTableProps<Row>,
    'label' | 'columns' | 'idOf' | 'nameOf' | 'actions' | 'selection' | 'toolbar' | 'onClearFilters'
  > {
  readonly query: ListQuery<Row>;
  readonly page: number;
  readonly empty: EmptyList;
  /** Filters of the toolbar exclude rows: an empty list says so. */
  readonly isFiltered?: boolean;
  /** Search on the server by a part of a name. */
  readonly search?: { readonly label: string; readonly value: string };
}

/** Notice in place of a list without objects. */
export interface EmptyList {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly about: string;
  readonly action?: ReactNode;
}

/** A page of a list of the portal. Its operations return no total: there is a next page after a full one. */
export function AdminList<Row>({ query, page, empty, search, isFiltered, ...table }: AdminListProps<Row>) {
  const { change, onSearch, clear } = useListChange();
  if (!query.data) return <QueryState query={query} />;
  const rows = query.data.value;
  // Selected rows that have gone stay selected, with their actions.
  const hasSelection = (table.selection?.ids.size ?? 0) > 0;
  if (rows.length === 0 && page === 1 && !isFiltered && !search?.value && !hasSelection)
    return (
      <>
        {table.toolbar}
        <Notice icon={empty.icon} title={empty.title} action={empty.action}>
          {empty.about}
        </Notice>
      </>
    );
  return (
    <DataTable
      {...(search && {
        toolbar: (
          <ListToolbar label={search.label} placeholder={search.label} value={search.value} onSearch={onSearch} />
        ),
        onClearFilters: clear,
      })}
      {...table}
      rows={rows}
      page={page}
      hasNextPage={rows.length === adminPageRows}
      onPage={next => change({ p: next })}
      isRefreshing={query.isFetching}
    />
  );
}

/** Link to the form of a new object. */
export const CreateLink = ({ to, label }: { to: string; label: string }) => (
  <Link to={to} data-new className={buttonClass('primary')}>
    <Plus size={16} aria-hidden />
    {label}
  </Link>
);
