import { Outlet, useMatches, useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ForbiddenState } from '../../kit/states.tsx';
import { ToastProvider } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { useAppearance, usePreferences } from '../session/preferences.ts';
import { canUse, useSession } from '../session/session.ts';
import { CommandPalette } from './command-palette.tsx';
import { SessionEndedDialog } from './session-ended.tsx';
import { ShortcutDialog } from './shortcut-dialog.tsx';
import { SideNavigation } from './side-navigation.tsx';
import { TopBar } from './top-bar.tsx';
import { useShortcuts } from './use-shortcuts.ts';

const defaultToastSeconds = 5;

/** Frame of every page of a signed-in user. */
export function Shell() {
  const { preferences, change } = usePreferences();
  useAppearance(preferences);
  const [layer, setLayer] = useState<'palette' | 'shortcuts' | 'navigation'>();
  const close = () => setLayer(undefined);
  useShortcuts({
    hasSingleKeys: preferences?.single_key_shortcuts ?? true,
    onPalette: () => setLayer('palette'),
    onHelp: () => setLayer('shortcuts'),
  });
  const path = useRouterState({ select: state => state.location.pathname });
  useEffect(() => setLayer(before => (before === 'navigation' && path ? undefined : before)), [path]);
  const isCollapsed = preferences?.is_menu_collapsed ?? false;
  return (
    <ToastProvider seconds={preferences?.toast_seconds ?? defaultToastSeconds}>
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:bg-raised focus:p-2"
      >
        {texts.shell.skip}
      </a>
      <div className="flex min-h-dvh">
        <SideNavigation
          isCollapsed={isCollapsed}
          isSheetOpen={layer === 'navigation'}
          onClose={close}
          onCollapse={() => change({ is_menu_collapsed: !isCollapsed })}
        />
        <div className="flex min-w-0 grow flex-col">
          <TopBar
            onNavigation={() => setLayer('navigation')}
            onPalette={() => setLayer('palette')}
            onShortcuts={() => setLayer('shortcuts')}
          />
          <main id="content" className="min-w-0 grow p-6 max-[900px]:p-4">
            <PermittedPage />
          </main>
        </div>
      </div>
      <CommandPalette isOpen={layer === 'palette'} onClose={close} />
      <ShortcutDialog isOpen={layer === 'shortcuts'} onClose={close} />
      <SessionEndedDialog />
    </ToastProvider>
  );
}

/** The page, or which permission it needs. */
function PermittedPage() {
  const session = useSession();
  const missing = useMatches()
    .map(({ staticData }) => staticData.permission)
    .find(permission => permission !== undefined && !canUse(session, permission));
  if (missing === undefined) return <Outlet />;
  return (
    <>
      <h1 className="sr-only">{texts.kit.forbidden(missing)}</h1>
      <ForbiddenState permission={missing} />
    </>
  );
}
