import { useLocation, useNavigate, useRouter } from '@tanstack/react-router';
import { Bookmark, Columns3, Plus, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button, IconButton } from '../kit/button.tsx';
import type { Column } from '../kit/data-table.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { TextField } from '../kit/field.tsx';
import { Menu } from '../kit/menu.tsx';
import { texts } from '../texts/texts.ts';
import { usePreferences } from './session/preferences.ts';

const own = texts.kit;
const maxNameChars = 200;
/** Bound of the server. */
const maxSavedViews = 100;

export interface ListView<Row> {
  readonly columns: readonly Column<Row>[];
  /** Menus of the columns and of the saved views, for the toolbar of the list. */
  readonly menus: ReactNode;
}

/**
 * Columns and views of a list, as the user chose them; both are preferences, stored on the server. The column that
 * opens an object, by default the first, is always shown.
 */
export function useListView<Row>(list: string, all: readonly Column<Row>[], fixed = all[0]?.id): ListView<Row> {
  const { preferences, change } = usePreferences();
  const chosen = preferences?.columns[list];
  const isShown = ({ id, isOptional }: Column<Row>) => id === fixed || (chosen ? chosen.includes(id) : !isOptional);
  const columns = all.filter(isShown);
  const toggle = (id: string) => {
    const ids = all.filter(column => (column.id === id) !== isShown(column));
    change({ columns: { ...preferences?.columns, [list]: ids.map(it => it.id) } });
  };
  const menus = preferences && (
    <>
      <Menu
        trigger={<IconButton icon={Columns3} kind="secondary" label={own.columns} />}
        items={all
          .filter(({ id }) => id !== fixed)
          .map(column => ({
            label: column.title,
            isChecked: isShown(column),
            staysOpen: true,
            onSelect: () => toggle(column.id),
          }))}
      />
      <ViewMenu list={list} />
    </>
  );
  return { columns, menus };
}

/** Saved views: filters, order and page of the list as its address has them. */
function ViewMenu({ list }: { list: string }) {
  const { preferences, change } = usePreferences();
  const { searchStr } = useLocation();
  const router = useRouter();
  const navigate = useNavigate();
  const [isNaming, setNaming] = useState(false);
  const all = preferences?.saved_views ?? [];
  const views = all.filter(view => view.list === list);
  const current = views.find(({ query }) => query === searchStr);
  const open = (query: string) => void navigate({ to: '.', search: router.options.parseSearch(query) });
  const save = (name: string) => {
    const others = all.filter(view => view.list !== list || view.name !== name);
    change({ saved_views: [...others, { list, name, query: searchStr }] });
    setNaming(false);
  };
  return (
    <>
      <Menu
        trigger={<IconButton icon={Bookmark} kind="secondary" label={own.views} />}
        items={[
          ...views.map(view => ({
            label: view.name,
            isChecked: view === current,
            onSelect: () => open(view.query),
          })),
          ...(views.length > 0 ? ['line' as const] : []),
          {
            label: own.saveView,
            icon: Plus,
            isDisabled: searchStr === '' || current !== undefined || all.length >= maxSavedViews,
            onSelect: () => setNaming(true),
          },
          ...(current
            ? [
                {
                  label: own.deleteView(current.name),
                  icon: Trash2,
                  onSelect: () => change({ saved_views: all.filter(view => view !== current) }),
                },
              ]
            : []),
        ]}
      />
      <NameDialog key={String(isNaming)} isOpen={isNaming} onSave={save} onClose={() => setNaming(false)} />
    </>
  );
}

interface NameDialogProps {
  readonly isOpen: boolean;
  onSave(name: string): void;
  onClose(): void;
}

function NameDialog({ isOpen, onSave, onClose }: NameDialogProps) {
  const [name, setName] = useState('');
  return (
    <Dialog isOpen={isOpen} title={own.saveViewTitle} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault();
          if (name.trim() !== '') onSave(name.trim());
        }}
      >
        <TextField
          label={own.viewName}
          help={own.viewHelp}
          required
          maxLength={maxNameChars}
          value={name}
          onChange={event => setName(event.target.value)}
        />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{own.cancel}</Button>
          <Button kind="primary" type="submit" disabled={name.trim() === ''}>
            {own.saveViewAction}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
