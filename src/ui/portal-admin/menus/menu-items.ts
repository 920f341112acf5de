import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';

export type MenuView = ResultOf<'GET /portal-api/menus/{menu_id}'>;
type MenuItem = MenuView['Items'][number];
export type MenuItemWrite = NonNullable<ArgumentsOf<'PUT /portal-api/menus/{menu_id}'>['body']['Items']>[number];

/** A link of the editor: the second level is an indented row, so that rows move like lines of a text. */
export interface MenuRow {
  /** Identifies the row while the menu is edited. */
  readonly id: number;
  readonly title: string;
  readonly path: string;
  readonly audience: MenuItem['VisibleTo'];
  readonly isChild: boolean;
}

export const toMenuRows = (items: readonly MenuItem[]): MenuRow[] =>
  items
    .flatMap(item =>
      [item, ...item.Children].map((it, place) => ({
        title: it.Title,
        path: it.Path,
        audience: it.VisibleTo,
        isChild: place > 0,
      })),
    )
    .map((row, id) => ({ ...row, id }));

export const addRow = (rows: readonly MenuRow[]): MenuRow[] => [
  ...rows,
  { id: Math.max(-1, ...rows.map(({ id }) => id)) + 1, title: '', path: '', audience: 'all', isChild: false },
];

/** Rows as they are written: an indented row belongs to the last one that is not. */
export function toMenuItems(rows: readonly MenuRow[]): MenuItemWrite[] {
  const items: (Omit<MenuItemWrite, 'Children'> & { Children: NonNullable<MenuItemWrite['Children']> })[] = [];
  for (const { title, path, audience, isChild } of rows) {
    const link = { Title: title, Path: path, VisibleTo: audience };
    const parent = isChild ? items.at(-1) : undefined;
    if (parent) parent.Children.push(link);
    else items.push({ ...link, Children: [] });
  }
  return items;
}

/** The first row has no row above that it could belong to. */
const fixFirst = (rows: readonly MenuRow[]): MenuRow[] =>
  rows.map((row, place) => (place === 0 && row.isChild ? { ...row, isChild: false } : row));

export const replaceRow = (rows: readonly MenuRow[], place: number, some: Partial<MenuRow>): MenuRow[] =>
  fixFirst(rows.map((row, at) => (at === place ? { ...row, ...some } : row)));

export const removeRow = (rows: readonly MenuRow[], place: number): MenuRow[] =>
  fixFirst(rows.filter((_row, at) => at !== place));

export function moveRow(rows: readonly MenuRow[], from: number, to: number): MenuRow[] {
  const moved = rows.filter((_row, at) => at !== from);
  moved.splice(to, 0, rows[from]!);
  return fixFirst(moved);
}

type LinkState = MenuItem['State'];

/** States of the links as they are stored, by address. */
export const toLinkStates = (items: readonly MenuItem[]): ReadonlyMap<string, LinkState> =>
  new Map(items.flatMap(item => [item, ...item.Children]).map(({ Path, State }) => [Path, State]));

export const countHidden = ({ Items }: MenuView): number =>
  Items.flatMap(item => [item, ...item.Children]).filter(({ Path, State }) => Path !== '' && State !== 'shown').length;
