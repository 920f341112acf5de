import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { BookOpen, CircleUser, Keyboard, LogOut, Menu as MenuIcon, Moon, Search } from 'lucide-react';
import { Button, IconButton } from '../../kit/button.tsx';
import { Menu } from '../../kit/menu.tsx';
import { useWrite } from '../../kit/queries.ts';
import type { Density, Theme } from '../../kit/theme.ts';
import { texts } from '../../texts/texts.ts';
import { usePreferences } from '../session/preferences.ts';
import { useSession } from '../session/session.ts';

export interface TopBarProps {
  onNavigation(): void;
  onPalette(): void;
  onShortcuts(): void;
}

export const TopBar = ({ onNavigation, onPalette, onShortcuts }: TopBarProps) => (
  <header className="sticky top-0 z-30 flex h-12 items-center gap-2 border-b border-line bg-surface px-4">
    <IconButton
      icon={MenuIcon}
      label={texts.shell.openNavigation}
      onClick={onNavigation}
      className="min-[901px]:hidden!"
    />
    <Button
      icon={Search}
      onClick={onPalette}
      className="mx-auto w-full max-w-96 min-w-0 justify-start! font-normal! text-dim!"
    >
      <span className="min-w-0 grow truncate text-left">{texts.shell.search}</span>
      <kbd className="font-mono text-small max-[900px]:hidden">{texts.shell.searchHint}</kbd>
    </Button>
    <AppearanceMenu />
    <AccountMenu onShortcuts={onShortcuts} />
  </header>
);

const themes: readonly Theme[] = ['system', 'light', 'dark', 'contrast'];
const densities: readonly Density[] = ['comfortable', 'compact'];

function AppearanceMenu() {
  const { preferences, change } = usePreferences();
  return (
    <Menu
      trigger={<IconButton icon={Moon} label={texts.shell.theme} />}
      items={[
        ...themes.map(theme => ({
          label: texts.shell.themes[theme],
          isChecked: preferences?.theme === theme,
          onSelect: () => change({ theme }),
        })),
        'line' as const,
        ...densities.map(density => ({
          label: texts.shell.densities[density],
          isChecked: preferences?.density === density,
          onSelect: () => change({ density }),
        })),
      ]}
    />
  );
}

function AccountMenu({ onShortcuts }: { onShortcuts(): void }) {
  const { user, organisation } = useSession();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { mutateAsync } = useWrite('DELETE /api/session');
  const signOut = async () => {
    const { value } = await mutateAsync({ given: {} });
    client.clear();
    // Single logout continues at the identity provider.
    if (typeof value.Meta === 'string') location.assign(value.Meta);
    else await navigate({ to: '/login' });
  };
  return (
    <Menu
      trigger={<IconButton icon={CircleUser} label={texts.shell.account} />}
      heading={
        <>
          <div className="font-medium break-all">{user.email_address}</div>
          <div className="text-small text-dim">{organisation.owner_name}</div>
        </>
      }
      items={[
        { label: texts.shell.profile, icon: CircleUser, onSelect: () => void navigate({ to: '/profile' }) },
        { label: texts.shell.shortcuts, icon: Keyboard, onSelect: onShortcuts },
        { label: texts.shell.reference, icon: BookOpen, onSelect: () => location.assign('/docs') },
        'line',
        { label: texts.shell.signOut, icon: LogOut, onSelect: () => void signOut() },
      ]}
    />
  );
}
