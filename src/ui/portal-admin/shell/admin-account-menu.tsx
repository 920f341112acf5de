import { useNavigate } from '@tanstack/react-router';
import { BookOpen, CircleUser, Globe, Keyboard, LogOut, UserRound } from 'lucide-react';
import { IconButton } from '../../kit/button.tsx';
import { readCsrfToken } from '../../kit/calls.ts';
import { Menu } from '../../kit/menu.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { useAdminSession } from '../session/admin-session.ts';

const own = adminTexts.shell;

/** Sends the form of the site that ends the session. */
function signOutOfSite(): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '/auth/logout';
  const token = document.createElement('input');
  token.type = 'hidden';
  token.name = 'csrf_token';
  token.value = readCsrfToken();
  form.append(token);
  document.body.append(form);
  form.submit();
}

export function AdminAccountMenu({ onShortcuts }: { onShortcuts(): void }) {
  const { Email, Role } = useAdminSession();
  const navigate = useNavigate();
  return (
    <Menu
      trigger={<IconButton icon={CircleUser} label={sharedTexts.shell.account} />}
      heading={
        <>
          <div className="font-medium break-all">{Email}</div>
          <div className="text-small text-dim">{own.roles[Role] ?? Role}</div>
        </>
      }
      items={[
        { label: own.pages.profile, icon: UserRound, onSelect: () => void navigate({ to: '/admin/admin_profile' }) },
        { label: own.viewSite, icon: Globe, onSelect: () => location.assign('/') },
        { label: sharedTexts.shell.shortcuts, icon: Keyboard, onSelect: onShortcuts },
        { label: sharedTexts.shell.reference, icon: BookOpen, onSelect: () => location.assign('/docs') },
        'line',
        { label: sharedTexts.shell.signOut, icon: LogOut, onSelect: signOutOfSite },
      ]}
    />
  );
}
