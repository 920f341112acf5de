import { useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { ToastProvider } from '../toast.tsx';
import { Breadcrumb } from './breadcrumb.tsx';
import { CommandPalette, type CommandPaletteProps } from './command-palette.tsx';
import { insertPinned, listPageKeys, type NavigationGroup } from './navigation-group.ts';
import { ShortcutDialog, type ShortcutDialogProps } from './shortcut-dialog.tsx';
import { SideNavigation } from './side-navigation.tsx';
import { TopBar } from './top-bar.tsx';
import { useShortcuts } from './use-shortcuts.ts';

export interface ShellFrameProps {
  /** Name of the app. */
  readonly product: string;
  /** Navigation of the user. */
  readonly groups: readonly NavigationGroup[];
  /** Objects that the user pinned, below the first page. */
  readonly pinned?: NavigationGroup;
  readonly shortcuts: ShortcutDialogProps['list'];
  readonly hasSingleKeys: boolean;
  readonly toastSeconds: number;
  readonly isCollapsed: boolean;
  onCollapse(): void;
  readonly useCommands: CommandPaletteProps['useCommands'];
  /** Menus at the end of the top bar. */
  renderMenus(showShortcuts: () => void): ReactNode;
  /** Dialogs above every page. */
  readonly layers?: ReactNode;
  /** The page. */
  readonly children: ReactNode;
}

/** Frame of every page of a signed-in user: navigation, top bar, palette, shortcuts, messages. */
export function ShellFrame({ product, groups, pinned, renderMenus, layers, children, ...rest }: ShellFrameProps) {
  const [layer, setLayer] = useState<'palette' | 'shortcuts' | 'navigation'>();
  const close = () => setLayer(undefined);
  const showShortcuts = () => setLayer('shortcuts');
  const pages = useMemo(() => listPageKeys(groups), [groups]);
  const shown = useMemo(() => insertPinned(groups, pinned), [groups, pinned]);
  useShortcuts({
    hasSingleKeys: rest.hasSingleKeys,
    pages,
    onPalette: () => setLayer('palette'),
    onHelp: showShortcuts,
  });
  const path = useRouterState({ select: state => state.location.pathname });
  useEffect(() => setLayer(before => (before === 'navigation' && path ? undefined : before)), [path]);
  return (
    <ToastProvider seconds={rest.toastSeconds}>
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:bg-raised focus:p-2"
      >
        {sharedTexts.shell.skip}
      </a>
      <div className="flex min-h-dvh">
        <SideNavigation
          product={product}
          groups={shown}
          isCollapsed={rest.isCollapsed}
          isSheetOpen={layer === 'navigation'}
          onClose={close}
          onCollapse={rest.onCollapse}
        />
        <div className="flex min-w-0 grow flex-col">
          <TopBar
            breadcrumb={<Breadcrumb groups={groups} path={path} />}
            onNavigation={() => setLayer('navigation')}
            onPalette={() => setLayer('palette')}
          >
            {renderMenus(showShortcuts)}
          </TopBar>
          <main id="content" className="min-w-0 grow p-6 max-[900px]:p-4">
            {children}
          </main>
        </div>
      </div>
      <CommandPalette isOpen={layer === 'palette'} onClose={close} useCommands={rest.useCommands} />
      <ShortcutDialog isOpen={layer === 'shortcuts'} list={rest.shortcuts} onClose={close} />
      {layers}
    </ToastProvider>
  );
}
