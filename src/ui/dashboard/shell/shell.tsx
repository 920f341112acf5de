import { Outlet, useMatches } from '@tanstack/react-router';
import { useMemo } from 'react';
import { AppearanceMenu } from '../../kit/shell/appearance-menu.tsx';
import { filterNavigation } from '../../kit/shell/navigation-group.ts';
import { ShellFrame } from '../../kit/shell/shell-frame.tsx';
import { ForbiddenState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { useAppearance, usePreferences } from '../session/preferences.ts';
import { canUse, useSession } from '../session/session.ts';
import { AccountMenu } from './account-menu.tsx';
import { IncidentBanner } from './incident-banner.tsx';
import { navigation, toFavouriteGroup } from './navigation.ts';
import { NotificationButton } from './notification-button.tsx';
import { SessionEndedDialog } from './session-ended.tsx';
import { useCommands } from './use-commands.ts';

const defaultToastSeconds = 5;

/** Frame of every page of a signed-in user. */
export function Shell() {
  const { preferences, change } = usePreferences();
  useAppearance(preferences);
  const session = useSession();
  const groups = useMemo(() => filterNavigation(navigation, permission => canUse(session, permission)), [session]);
  const favourites = useMemo(() => toFavouriteGroup(preferences?.favourites ?? []), [preferences?.favourites]);
  const isCollapsed = preferences?.is_menu_collapsed ?? false;
  return (
    <ShellFrame
      product={texts.shell.product}
      groups={groups}
      pinned={favourites}
      shortcuts={texts.shell.shortcutList}
      hasSingleKeys={preferences?.single_key_shortcuts ?? true}
      toastSeconds={preferences?.toast_seconds ?? defaultToastSeconds}
      isCollapsed={isCollapsed}
      onCollapse={() => change({ is_menu_collapsed: !isCollapsed })}
      useCommands={useCommands}
      layers={<SessionEndedDialog />}
      renderMenus={showShortcuts => (
        <>
          <NotificationButton />
          <AppearanceMenu theme={preferences?.theme} density={preferences?.density} onChange={change} />
          <AccountMenu onShortcuts={showShortcuts} />
        </>
      )}
    >
      <IncidentBanner />
      <PermittedPage />
    </ShellFrame>
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
