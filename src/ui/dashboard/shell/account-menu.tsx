import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { BookOpen, CircleUser, Keyboard, LogOut, Store } from 'lucide-react';
import { IconButton } from '../../kit/button.tsx';
import { Menu } from '../../kit/menu.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission, useSession } from '../session/session.ts';
import { openTab, toPortalAdminUrl } from './portal-links.ts';

export function AccountMenu({ onShortcuts }: { onShortcuts(): void }) {
  const { user, organisation, portal_url: portal } = useSession();
  const managesPortal = usePermission('portal');
  const client = useQueryClient();
  const navigate = useNavigate();
  const { mutateAsync } = useWrite('DELETE /api/session');
  const { showError } = useToasts();
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
        ...(portal ? [{ label: texts.shell.portal, icon: Store, onSelect: () => openTab(portal) }] : []),
        ...(portal && managesPortal
          ? [{ label: texts.shell.portalAdmin, icon: Store, onSelect: () => openTab(toPortalAdminUrl(portal)) }]
          : []),
        'line',
        {
          label: texts.shell.signOut,
          icon: LogOut,
          onSelect: () => void signOut().catch((error: Error) => showError(error.message)),
        },
      ]}
    />
  );
}
