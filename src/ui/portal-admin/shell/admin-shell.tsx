import { Outlet } from '@tanstack/react-router';
import { AppearanceMenu } from '../../kit/shell/appearance-menu.tsx';
import { ShellFrame } from '../../kit/shell/shell-frame.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { useLocalAppearance } from '../session/local-appearance.ts';
import { AdminAccountMenu } from './admin-account-menu.tsx';
import { adminNavigation } from './admin-navigation.ts';
import { AdminSessionEndedDialog } from './admin-session-ended.tsx';
import { useAdminCommands } from './use-admin-commands.ts';

const toastSeconds = 5;

/** Frame of every page of an administrator of the portal. */
export function AdminShell() {
  const { theme, density, isCollapsed, change, toggleMenu } = useLocalAppearance();
  return (
    <ShellFrame
      product={adminTexts.shell.product}
      groups={adminNavigation}
      shortcuts={adminTexts.shell.shortcuts}
      hasSingleKeys
      toastSeconds={toastSeconds}
      isCollapsed={isCollapsed}
      onCollapse={toggleMenu}
      useCommands={useAdminCommands}
      layers={<AdminSessionEndedDialog />}
      renderMenus={showShortcuts => (
        <>
          <AppearanceMenu theme={theme} density={density} onChange={change} />
          <AdminAccountMenu onShortcuts={showShortcuts} />
        </>
      )}
    >
      <Outlet />
    </ShellFrame>
  );
}
