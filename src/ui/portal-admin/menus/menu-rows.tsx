import { ArrowDown, ArrowUp, Indent, Outdent, Plus, Trash2 } from 'lucide-react';
import { StatusPill } from '../../kit/badge.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { classNames } from '../../kit/class-names.ts';
import { SelectField, TextField } from '../../kit/field.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { addRow, type MenuRow, moveRow, removeRow, replaceRow, type toLinkStates } from './menu-items.ts';

const own = adminTexts.menus;
const audiences = Object.entries(own.audiences).map(([value, label]) => ({ value, label }));

interface MenuRowsProps {
  readonly rows: readonly MenuRow[];
  readonly states: ReturnType<typeof toLinkStates>;
  onChange(rows: readonly MenuRow[]): void;
}

/** Editor of the links of a menu; rows are moved by buttons, which keyboards reach. */
export function MenuRows({ rows, states, onChange }: MenuRowsProps) {
  return (
    <Card
      title={own.items}
      action={
        <Button icon={Plus} onClick={() => onChange(addRow(rows))}>
          {own.addItem}
        </Button>
      }
    >
      <p className="mb-4 text-dim">{own.itemsAbout}</p>
      {rows.length === 0 && <p className="text-dim">{own.noItems}</p>}
      <ol className="flex flex-col gap-4">
        {rows.map((row, place) => (
          <MenuRowFields key={row.id} {...{ row, place, rows, onChange }} state={states.get(row.path)} />
        ))}
      </ol>
    </Card>
  );
}

interface MenuRowFieldsProps extends Pick<MenuRowsProps, 'rows' | 'onChange'> {
  readonly row: MenuRow;
  readonly place: number;
  readonly state: 'shown' | 'hidden' | 'missing' | undefined;
}

function MenuRowFields({ row, place, rows, state, onChange }: MenuRowFieldsProps) {
  const { title, path, audience, isChild } = row;
  const number = place + 1;
  const change = (some: Partial<MenuRow>) => onChange(replaceRow(rows, place, some));
  return (
    <li className={classNames('flex flex-col gap-2 border-l-2 border-line pl-4', isChild && 'ml-8')}>
      <div className="grid gap-3 md:grid-cols-3">
        <TextField
          label={own.itemTitle(number)}
          required
          maxLength={100}
          value={title}
          onChange={event => change({ title: event.target.value })}
        />
        <TextField
          label={own.itemPath(number)}
          help={own.itemPathHelp}
          isMono
          value={path}
          onChange={event => change({ path: event.target.value })}
        />
        <SelectField
          label={own.itemAudience(number)}
          options={audiences}
          value={audience}
          onChange={event => change({ audience: event.target.value as MenuRow['audience'] })}
        />
      </div>
      <div className="flex flex-wrap items-center gap-1">
        <IconButton
          icon={ArrowUp}
          label={own.moveUp(number)}
          disabled={place === 0}
          onClick={() => onChange(moveRow(rows, place, place - 1))}
        />
        <IconButton
          icon={ArrowDown}
          label={own.moveDown(number)}
          disabled={number === rows.length}
          onClick={() => onChange(moveRow(rows, place, place + 1))}
        />
        <IconButton
          icon={isChild ? Outdent : Indent}
          label={isChild ? own.outdent(number) : own.indent(number)}
          disabled={place === 0}
          onClick={() => change({ isChild: !isChild })}
        />
        <IconButton icon={Trash2} label={own.removeItem(number)} onClick={() => onChange(removeRow(rows, place))} />
        {path !== '' && state && state !== 'shown' && <StatusPill tone="warning">{own.states[state]}</StatusPill>}
      </div>
    </li>
  );
}
