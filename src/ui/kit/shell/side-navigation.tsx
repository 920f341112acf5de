import { Link, useLocation } from '@tanstack/react-router';
import { PanelLeftClose, PanelLeftOpen } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { useEffect, useRef } from 'react';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { IconButton } from '../button.tsx';
import { classNames } from '../class-names.ts';
import { useFocusReturn } from '../focus-return.ts';
import type { NavigationEntry, NavigationGroup } from './navigation-group.ts';
import { ProductSign } from './product-sign.tsx';

export interface SideNavigationProps {
  /** Name of the app. */
  readonly product: string;
  /** Entries of the user, the first page first: it is current at its own address only. */
  readonly groups: readonly NavigationGroup[];
  readonly isCollapsed: boolean;
  readonly isSheetOpen: boolean;
  onCollapse(): void;
  onClose(): void;
}

/** Navigation at the left; a sheet on narrow screens. */
export function SideNavigation({
  product,
  groups,
  isCollapsed,
  isSheetOpen,
  onCollapse,
  onClose,
}: SideNavigationProps) {
  const width = isCollapsed ? 'w-14' : 'w-58';
  const returnFocus = useFocusReturn(isSheetOpen);
  return (
    <>
      <nav
        aria-label={sharedTexts.shell.navigation}
        className={classNames(
          'sticky top-0 flex h-dvh shrink-0 flex-col border-r border-line bg-surface max-[900px]:hidden',
          width,
        )}
      >
        <Product name={isCollapsed ? '' : product} />
        <Entries groups={groups} isCollapsed={isCollapsed} />
        <div className="mt-auto px-2 py-1">
          <IconButton
            icon={isCollapsed ? PanelLeftOpen : PanelLeftClose}
            label={isCollapsed ? sharedTexts.shell.expand : sharedTexts.shell.collapse}
            onClick={onCollapse}
          />
        </div>
      </nav>
      <Dialog.Root open={isSheetOpen} onOpenChange={open => !open && onClose()}>
        <Dialog.Portal>
          <Dialog.Overlay className="fixed inset-0 z-40 bg-scrim" />
          <Dialog.Content
            aria-describedby={undefined}
            onCloseAutoFocus={returnFocus}
            className="fixed inset-y-0 left-0 z-50 w-64 overflow-auto border-r border-line bg-surface shadow-layer"
          >
            <Dialog.Title className="sr-only">{sharedTexts.shell.navigation}</Dialog.Title>
            <Product name={product} />
            <Entries groups={groups} isCollapsed={false} />
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
    </>
  );
}

const Product = ({ name }: { name: string }) => (
  <div className="flex h-12 shrink-0 items-center gap-2 border-b border-line px-4">
    <ProductSign />
    {name && <span className="font-semibold">{name}</span>}
  </div>
);

interface EntriesProps {
  readonly groups: readonly NavigationGroup[];
  readonly isCollapsed: boolean;
}

function Entries({ groups, isCollapsed }: EntriesProps) {
  const list = useRef<HTMLDivElement>(null);
  const path = useLocation({ select: location => location.pathname });
  useEffect(() => {
    // A low window shows a part of the entries: the one of the page is among them.
    if (path) list.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: 'nearest' });
  }, [path]);
  const home = groups[0]?.entries[0]?.to;
  return (
    <div ref={list} className="flex flex-col gap-2 overflow-y-auto p-2">
      {groups.map(({ label, entries }) => (
        <div key={label ?? ''}>
          {label && !isCollapsed && <p className="px-2 pb-0.5 text-small text-dim">{label}</p>}
          <ul>
            {entries.map(entry => (
              <li key={entry.to}>
                <Entry entry={entry} isHome={entry.to === home} isCollapsed={isCollapsed} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}

interface EntryProps {
  readonly entry: NavigationEntry;
  readonly isHome: boolean;
  readonly isCollapsed: boolean;
}

const Entry = ({ entry: { to, label, icon: Icon }, isHome, isCollapsed }: EntryProps) => (
  <Link
    to={to}
    activeOptions={{ exact: isHome }}
    title={isCollapsed ? label : undefined}
    className="flex min-h-7.5 items-center gap-2 rounded-control px-2 hover:bg-hover"
    activeProps={{ className: 'bg-accent-soft font-medium text-accent-ink', 'aria-current': 'page' }}
  >
    <Icon size={16} strokeWidth={1.5} aria-hidden className="shrink-0" />
    <span className={isCollapsed ? 'sr-only' : ''}>{label}</span>
  </Link>
);
