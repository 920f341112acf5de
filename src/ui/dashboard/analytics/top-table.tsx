import { Download } from 'lucide-react';
import type { ReactNode } from 'react';
import { buttonClass } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { toUsageCsvAddress, toUsageQuery, type UsageCount, type UsageScope } from './usage-filters.ts';

const own = texts.analytics;

export interface TopColumn {
  readonly title: string;
  readonly align?: 'right';
  cell(item: UsageCount): ReactNode;
}

interface TopTableProps {
  readonly title: string;
  readonly scope: UsageScope;
  /** Parameters of the counts beside the scope. */
  readonly query: Readonly<Record<string, string | number>>;
  readonly columns: readonly TopColumn[];
  idOf(item: UsageCount): string;
  readonly emptyText: string;
}

/** The largest counts by a dimension: the first page, and all of them as CSV. */
export function TopTable({ title, scope, query, columns, idOf, emptyText }: TopTableProps) {
  const read = useOperation('GET /api/usage', { query: toUsageQuery(scope, query) }, { keepPrevious: true });
  const items = read.isError ? undefined : read.data?.value.data;
  const csv = (
    <a
      href={toUsageCsvAddress(scope, query)}
      download
      aria-label={own.exportOf(title)}
      title={own.exportOf(title)}
      className={buttonClass('quiet', 'w-(--control) px-0!')}
    >
      <Download size={16} strokeWidth={1.5} aria-hidden />
    </a>
  );
  return (
    <Card title={title} action={csv}>
      {items === undefined ? (
        <QueryState query={read} lines={4} />
      ) : items.length === 0 ? (
        <p className="text-dim">{emptyText}</p>
      ) : (
        <Rows title={title} items={items} columns={columns} idOf={idOf} />
      )}
      {(read.data?.value.pages ?? 0) > 1 && (
        <p className="pt-2 text-small text-dim">{own.topOnly(items?.length ?? 0)}</p>
      )}
    </Card>
  );
}

type RowsProps = Pick<TopTableProps, 'title' | 'columns' | 'idOf'> & { readonly items: readonly UsageCount[] };

const Rows = ({ title, items, columns, idOf }: RowsProps) => (
  <section aria-label={title} className="overflow-x-auto">
    <table className="w-full">
      <thead>
        <tr className="text-left text-small text-dim">
          {columns.map(({ title, align }) => (
            <th key={title} scope="col" className={`${cellClass(align)} align-bottom`}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map(item => (
          <tr key={idOf(item)} className="border-t border-line">
            {columns.map(({ title, align, cell }) => (
              <td key={title} className={`${cellClass(align)} ${align === 'right' ? 'whitespace-nowrap' : ''}`}>
                {cell(item)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

/** Long names and heads of numbers break, so that the numbers stay in sight. */
const cellClass = (align: 'right' | undefined) =>
  `py-1.5 pr-3 last:pr-0 ${align === 'right' ? 'text-right' : 'min-w-18 [overflow-wrap:anywhere]'}`;
