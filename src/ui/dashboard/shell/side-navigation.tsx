import { Link } from '@tanstack/react-router';
import { PanelLeftClose, PanelLeftOpen } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { IconButton } from '../../kit/button.tsx';
import { classNames } from '../../kit/class-names.ts';
import { texts } from '../../texts/texts.ts';
import { canUse, useSession } from '../session/session.ts';
import { type NavigationEntry, navigation } from './navigation.ts';
import { ProductSign } from './product-sign.tsx';

export interface SideNavigationProps {
  readonly isCollapsed: boolean;
  readonly isSheetOpen: boolean;
  onCollapse(): void;
  onClose(): void;
}

/** Navigation at the left; a sheet on narrow screens. */
export function SideNavigation({ isCollapsed, isSheetOpen, onCollapse, onClose }: SideNavigationProps) {
  const width = isCollapsed ? 'w-14' : 'w-58';
  return (
    <>
      <nav
        aria-label={texts.shell.navigation}
        className={classNames(
          'sticky top-0 flex h-dvh shrink-0 flex-col border-r border-line bg-surface max-[900px]:hidden',
          width,
        )}
      >
        <Product isCollapsed={isCollapsed} />
        <Entries isCollapsed={isCollapsed} />
        <div className="mt-auto p-2">
          <IconButton
            icon={isCollapsed ? PanelLeftOpen : PanelLeftClose}
            label={isCollapsed ? texts.shell.expand : texts.shell.collapse}
            onClick={onCollapse}
          />
        </div>
      </nav>
      <Dialog.Root open={isSheetOpen} onOpenChange={open => !open && onClose()}>
        <Dialog.Portal>
          <Dialog.Overlay className="fixed inset-0 z-40 bg-scrim" />
          <Dialog.Content
            aria-describedby={undefined}
            className="fixed inset-y-0 left-0 z-50 w-64 overflow-auto border-r border-line bg-surface shadow-layer"
          >
            <Dialog.Title className="sr-only">{texts.shell.navigation}</Dialog.Title>
            <Product isCollapsed={false} />
            <Entries isCollapsed={false} />
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
    </>
  );
}

const Product = ({ isCollapsed }: { isCollapsed: boolean }) => (
  <div className="flex h-12 items-center gap-2 border-b border-line px-4">
    <ProductSign />
    {!isCollapsed && <span className="font-semibold">{texts.shell.product}</span>}
  </div>
);

function Entries({ isCollapsed }: { isCollapsed: boolean }) {
  const session = useSession();
  const groups = navigation
    .map(group => ({
      ...group,
      entries: group.entries.filter(({ permission }) => permission === undefined || canUse(session, permission)),
    }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <div className="flex flex-col gap-3 overflow-y-auto p-2">
      {groups.map(({ label, entries }) => (
        <div key={label ?? ''}>
          {label && !isCollapsed && <p className="px-2 pb-1 text-small text-dim">{label}</p>}
          <ul>
            {entries.map(entry => (
              <li key={entry.to}>
                <Entry entry={entry} isCollapsed={isCollapsed} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}

const Entry = ({ entry: { to, label, icon: Icon }, isCollapsed }: { entry: NavigationEntry; isCollapsed: boolean }) => (
  <Link
    to={to}
    activeOptions={{ exact: to === '/' }}
    title={isCollapsed ? label : undefined}
    className="flex min-h-8 items-center gap-2 rounded-control px-2 hover:bg-hover"
    activeProps={{ className: 'bg-accent-soft font-medium text-accent-ink', 'aria-current': 'page' }}
  >
    <Icon size={16} strokeWidth={1.5} aria-hidden className="shrink-0" />
    <span className={isCollapsed ? 'sr-only' : ''}>{label}</span>
  </Link>
);
