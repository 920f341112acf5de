import { ArrowDown, ArrowUp, ChevronLeft, ChevronRight, Ellipsis, SearchX } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { Button, IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { Menu, type MenuItem } from './menu.tsx';
import { useRowWindow } from './row-window.ts';
import { Notice } from './states.tsx';

/** Column of a list. The server sorts, filters and pages: a column only names what it sorts by. */
export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  cell(row: Row): ReactNode;
  /** Value of `sort`; descending with a leading `-`. */
  readonly sort?: string;
  readonly align?: 'right';
  /** Shown only where the user chose it. */
  readonly isOptional?: true;
}

export interface Selection {
  readonly ids: ReadonlySet<string>;
  onChange(ids: ReadonlySet<string>): void;
  /** Actions on the selected rows; they take the place of the toolbar. */
  readonly actions: ReactNode;
}

export interface DataTableProps<Row> {
  /** Accessible name of the table. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  idOf(row: Row): string;
  /** Name of the object, for labels of its controls. */
  nameOf(row: Row): string;
  readonly toolbar?: ReactNode;
  readonly sort?: string;
  onSort?(sort: string): void;
  readonly page?: number;
  readonly pages?: number;
  /** In place of `pages`, where the total is unknown. */
  readonly hasNextPage?: boolean;
  onPage?(page: number): void;
  actions?(row: Row): readonly (MenuItem | 'line')[];
  readonly selection?: Selection;
  /** Filters that exclude all rows can be cleared. */
  onClearFilters?(): void;
  /** Another request is running; the rows stay. */
  readonly isRefreshing?: boolean;
}

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { rows, toolbar, selection, isRefreshing, onClearFilters } = props;
  const hasSelection = selection !== undefined && selection.ids.size > 0;
  // Without controls in its rows, only the keyboard focus of the region itself can scroll a wide table.
  const region = !props.actions && !selection && { role: 'region', 'aria-label': props.label, tabIndex: 0 };
  return (
    <div className="flex flex-col gap-3">
      {hasSelection ? <SelectionBar selection={selection} /> : toolbar}
      {isRefreshing !== undefined && <div className={classNames('h-0.5', isRefreshing && 'animate-pulse bg-accent')} />}
      {/* `relative`: hidden texts of cells are positioned, and scroll with the table instead of widening the page. */}
      <div className="relative overflow-x-auto rounded-card border border-line bg-surface" {...region}>
        <table
          aria-label={props.label}
          aria-rowcount={rows.length + 1}
          className="w-full border-collapse max-[900px]:block"
        >
          <Head {...props} />
          <Body {...props} />
        </table>
        {rows.length === 0 && (
          <Notice
            icon={SearchX}
            title={sharedTexts.kit.noMatch}
            action={onClearFilters && <Button onClick={onClearFilters}>{sharedTexts.kit.clearFilters}</Button>}
          />
        )}
      </div>
      <ListPaging {...props} />
    </div>
  );
}

/** Rows; of a long list only those near the screen, between two rows of the height of the others. */
function Body<Row>(props: DataTableProps<Row>) {
  const { rows, idOf } = props;
  const { body, first, end, abovePx, belowPx } = useRowWindow(rows.length);
  return (
    <tbody ref={body} className="max-[900px]:block min-[901px]:[&>tr:last-child>td]:border-b-0">
      {abovePx > 0 && <tr aria-hidden className="block" style={{ height: abovePx }} />}
      {rows.slice(first, end).map((row, place) => (
        // The head is row 1.
        <BodyRow key={idOf(row)} row={row} index={first + place + 2} table={props} />
      ))}
      {belowPx > 0 && <tr aria-hidden className="block" style={{ height: belowPx }} />}
    </tbody>
  );
}

interface BodyRowProps<Row> {
  readonly row: Row;
  readonly index: number;
  /** The same object while only the window of rows moves. */
  readonly table: DataTableProps<Row>;
}

const SelectionBar = ({ selection: { ids, onChange, actions } }: { selection: Selection }) => (
  <div className="flex min-h-(--control) flex-wrap items-center gap-2 rounded-card bg-accent-soft px-3 py-1">
    <span className="grow font-medium">{sharedTexts.kit.selected(ids.size)}</span>
    {actions}
    <Button kind="quiet" onClick={() => onChange(new Set())}>
      {sharedTexts.kit.clearSelection}
    </Button>
  </div>
);

const rightCell = 'min-[901px]:text-right min-[901px]:whitespace-nowrap';
/** The first column names the row: it keeps room for some words. */
const nameCell = 'min-[901px]:min-w-36';
const headCell = 'border-b border-line px-3 py-2 text-left text-small font-medium text-dim whitespace-nowrap';

function Head<Row>({ columns, rows, idOf, sort = '', onSort, selection, actions }: DataTableProps<Row>) {
  const isAllSelected = selection !== undefined && rows.length > 0 && rows.every(row => selection.ids.has(idOf(row)));
  const selectAll = () => selection?.onChange(new Set(isAllSelected ? [] : rows.map(idOf)));
  return (
    <thead className="max-[900px]:sr-only">
      <tr>
        {selection && (
          <th scope="col" className={classNames(headCell, 'w-10')}>
            <input
              type="checkbox"
              className="block size-4 accent-accent"
              aria-label={sharedTexts.kit.selectAll}
              checked={isAllSelected}
              onChange={selectAll}
            />
          </th>
        )}
        {columns.map(column => (
          <HeadCell key={column.id} column={column} sort={sort} onSort={onSort} />
        ))}
        {actions && (
          <th scope="col" className={headCell}>
            <span className="sr-only">{sharedTexts.kit.actionsOf('')}</span>
          </th>
        )}
      </tr>
    </thead>
  );
}

interface HeadCellProps<Row> {
  readonly column: Column<Row>;
  readonly sort: string;
  readonly onSort: ((sort: string) => void) | undefined;
}

function HeadCell<Row>({ column: { title, sort: own, align }, sort, onSort }: HeadCellProps<Row>) {
  const isAscending = own !== undefined && sort === own;
  const isDescending = own !== undefined && sort === `-${own}`;
  const order = isAscending ? 'ascending' : isDescending ? 'descending' : undefined;
  const Arrow = isAscending ? ArrowUp : ArrowDown;
  return (
    <th scope="col" aria-sort={order} className={classNames(headCell, align === 'right' && 'text-right')}>
      {own && onSort ? (
        <button
          type="button"
          className="inline-flex min-h-6 items-center gap-1 rounded-control"
          onClick={() => onSort(isAscending ? `-${own}` : own)}
        >
          {title}
          {order && <Arrow size={12} aria-hidden />}
        </button>
      ) : (
        title
      )}
    </th>
  );
}

/** A row of the table; a card of labels and values on narrow screens. Scrolling renders only the rows that enter. */
const BodyRow = memo(PlainRow) as typeof PlainRow;

function PlainRow<Row>({ row, index, table }: BodyRowProps<Row>) {
  const { columns, idOf, nameOf, selection, actions } = table;
  const id = idOf(row);
  const toggle = () => {
    const ids = new Set(selection?.ids);
    if (!ids.delete(id)) ids.add(id);
    selection?.onChange(ids);
  };
  const cell =
    'h-(--row) border-b border-line px-3 py-1 align-middle max-[900px]:flex max-[900px]:h-auto max-[900px]:gap-3 ' +
    'max-[900px]:items-baseline max-[900px]:border-0';
  return (
    <tr
      aria-rowindex={index}
      className="hover:bg-hover max-[900px]:block max-[900px]:border-b max-[900px]:border-line max-[900px]:py-2"
    >
      {selection && (
        <td className={cell}>
          <input
            type="checkbox"
            className="block size-4 accent-accent"
            aria-label={sharedTexts.kit.selectRow(nameOf(row))}
            checked={selection.ids.has(id)}
            onChange={toggle}
          />
        </td>
      )}
      {columns.map((column, place) => (
        <td
          key={column.id}
          className={classNames(cell, place === 0 && nameCell, column.align === 'right' && rightCell)}
        >
          <span aria-hidden className="w-28 shrink-0 text-dim min-[901px]:hidden">
            {column.title}
          </span>
          <div className="min-w-0">{column.cell(row)}</div>
        </td>
      ))}
      {actions && (
        <td className={classNames(cell, 'w-10 min-[901px]:text-right')}>
          <Menu
            trigger={<IconButton icon={Ellipsis} label={sharedTexts.kit.actionsOf(nameOf(row))} />}
            items={actions(row)}
          />
        </td>
      )}
    </tr>
  );
}

export type ListPagingProps = Pick<DataTableProps<never>, 'page' | 'pages' | 'hasNextPage' | 'onPage'>;

/** Page of a list and the way to its neighbours; absent where there is one page. */
export function ListPaging({ page = 1, hasNextPage, pages = 1, onPage }: ListPagingProps) {
  const hasNext = hasNextPage ?? page < pages;
  if (!onPage || (!hasNext && page <= 1)) return null;
  const label = hasNextPage === undefined ? sharedTexts.kit.pageOf(page, pages) : sharedTexts.kit.pageNumber(page);
  return (
    <nav aria-label={label} className="flex items-center justify-end gap-2">
      <span className="text-dim">{label}</span>
      <IconButton
        icon={ChevronLeft}
        label={sharedTexts.kit.previousPage}
        kind="secondary"
        disabled={page <= 1}
        onClick={() => onPage(page - 1)}
      />
      <IconButton
        icon={ChevronRight}
        label={sharedTexts.kit.nextPage}
        kind="secondary"
        disabled={!hasNext}
        onClick={() => onPage(page + 1)}
      />
    </nav>
  );
}
