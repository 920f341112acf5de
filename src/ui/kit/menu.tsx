import type { LucideIcon } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

export interface MenuItem {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  /** Marks the chosen one of a group. */
  readonly isChecked?: boolean;
  /** For several choices in a row. */
  readonly staysOpen?: boolean;
  onSelect(): void;
}

export interface MenuProps {
  /** The button that opens the menu. */
  readonly trigger: ReactNode;
  readonly items: readonly (MenuItem | 'line')[];
  readonly heading?: ReactNode;
}

const itemClass =
  'flex min-h-8 items-center gap-2 rounded-control px-2 outline-none data-highlighted:bg-hover data-disabled:opacity-50';

export function Menu({ trigger, items, heading }: MenuProps) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          className="opens z-50 min-w-48 rounded-card border border-line bg-raised p-1 shadow-layer"
        >
          {heading && <div className="border-b border-line px-2 py-1.5">{heading}</div>}
          {items.map((item, index) =>
            item === 'line' ? (
              // A line has no identity but its place.
              <DropdownMenu.Separator key={`line-${String(index)}`} className="my-1 h-px bg-line" />
            ) : (
              <Item key={item.label} item={item} />
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Item({ item }: { item: MenuItem }) {
  const { label, icon: Icon, isDanger, isDisabled, isChecked, staysOpen, onSelect } = item;
  const select = (event: Event) => {
    if (staysOpen) event.preventDefault();
    onSelect();
  };
  const content = (
    <>
      {Icon && <Icon size={16} strokeWidth={1.5} aria-hidden />}
      <span className="grow">{label}</span>
    </>
  );
  const className = classNames(itemClass, isDanger && 'text-danger');
  if (isChecked === undefined)
    return (
      <DropdownMenu.Item className={className} disabled={isDisabled === true} onSelect={select}>
        {content}
      </DropdownMenu.Item>
    );
  return (
    <DropdownMenu.CheckboxItem className={className} checked={isChecked} onSelect={select}>
      {content}
      <DropdownMenu.ItemIndicator aria-hidden>✓</DropdownMenu.ItemIndicator>
    </DropdownMenu.CheckboxItem>
  );
}
