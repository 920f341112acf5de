import { useSearch } from '@tanstack/react-router';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { PageFrame } from '../../kit/page-frame.tsx';
import { AdminList, type AdminListProps, adminPageRows, CreateLink } from './admin-list.tsx';

interface ListPageTexts {
  readonly title: string;
  readonly about: string;
  readonly create: string;
  readonly emptyTitle: string;
  readonly emptyAbout: string;
}

interface PageQuery {
  readonly page: number;
  readonly per_page: number;
  readonly q?: string;
}

export interface ListPageOptions<Row> extends Pick<AdminListProps<Row>, 'columns'> {
  readonly texts: ListPageTexts;
  /** Path of the list; the form of a new object is at `new` below it. */
  readonly path: `/admin/${string}`;
  readonly icon: LucideIcon;
  /** Hook that reads a page of the list. */
  useRows(query: PageQuery): AdminListProps<Row>['query'];
  nameOf(row: Row): string;
  /** Label of the search by a part of a name, for lists that have one. */
  readonly searchLabel?: string;
  /** Replaces the link to the form of a new object. */
  readonly actions?: ReactNode;
}

/** Page with a list of objects: title, link to the form of a new one, search and pages in the address. */
export function createListPage<Row extends { readonly ID: number | string }>(options: ListPageOptions<Row>) {
  const { texts, path, icon, useRows, nameOf, searchLabel, actions, columns } = options;
  return function ListPage() {
    const { p = 1, q = '' } = useSearch({ strict: false });
    const query = useRows({ page: p, per_page: adminPageRows, ...(searchLabel && { q }) });
    return (
      <PageFrame
        title={texts.title}
        about={texts.about}
        actions={actions ?? <CreateLink to={`${path}/new`} label={texts.create} />}
      >
        <AdminList
          label={texts.title}
          query={query}
          page={p}
          columns={columns}
          idOf={({ ID }) => String(ID)}
          nameOf={nameOf}
          {...(searchLabel && { search: { label: searchLabel, value: q } })}
          empty={{ icon, title: texts.emptyTitle, about: texts.emptyAbout }}
        />
      </PageFrame>
    );
  };
}
