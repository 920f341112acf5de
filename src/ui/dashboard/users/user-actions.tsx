import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Menu } from '../../kit/menu.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { useSession } from '../session/session.ts';
import { type PasswordLink, PasswordLinkDialog } from './password-link-dialog.tsx';
import { canCreateLinks } from './roles.ts';
import type { UserData } from './user-form.tsx';

const own = texts.users;
const refreshed = ['GET /api/users', 'GET /api/users/{userId}', 'GET /api/users/{userId}/sessions'] as const;
type Pending = 'delete' | 'revoke' | 'factor' | undefined;

/** Password link, second factor, revoke, delete. One's own account is changed in the profile. */
export function UserActions({ user, onDeleted }: { user: UserData; onDeleted(): void }) {
  const session = useSession();
  const [pending, setPending] = useState<Pending>();
  const [link, setLink] = useState<PasswordLink>();
  const { confirmations, createLink } = useUserWrites(user, {
    onDeleted,
    onLink: setLink,
    onSettled: () => setPending(undefined),
  });
  const name = user.email_address;
  const isSelf = user.id === session.user.id;
  const canReset = canCreateLinks(session) && !isSelf;
  const shown = pending && confirmations[pending];
  return (
    <>
      <Menu
        trigger={<IconButton icon={Ellipsis} kind="secondary" label={texts.kit.actionsOf(name)} />}
        items={[
          { label: own.resetLink, isDisabled: !canReset || !user.active, onSelect: createLink },
          { label: own.removeFactor, isDisabled: !canReset, onSelect: () => setPending('factor') },
          { label: own.revoke, isDisabled: isSelf || !user.active, onSelect: () => setPending('revoke') },
          'line',
          { label: own.delete, isDanger: true, isDisabled: isSelf, onSelect: () => setPending('delete') },
        ]}
      />
      {shown && (
        <ConfirmDialog
          isOpen
          tier={shown.tier}
          title={shown.title(name)}
          consequence={shown.consequence}
          action={shown.action(name)}
          isBusy={shown.isBusy}
          onConfirm={shown.run}
          onClose={() => setPending(undefined)}
        />
      )}
      {link && <PasswordLinkDialog link={link} onClose={() => setLink(undefined)} />}
    </>
  );
}

interface WriteOptions {
  onDeleted(): void;
  onLink(link: PasswordLink): void;
  onSettled(): void;
}

/** Writes of the menu, with the texts that confirm them. */
function useUserWrites(user: UserData, { onDeleted, onLink, onSettled }: WriteOptions) {
  const toasts = useToasts();
  const linking = useWrite('POST /api/users/{userId}/actions/reset-link');
  const revoking = useWrite('PUT /api/users/{userId}/actions/revoke', refreshed);
  const removing = useWrite('DELETE /api/users/{userId}', ['GET /api/users']);
  const clearing = useWrite('DELETE /api/users/{userId}/second-factor');
  const given = { params: { userId: user.id } };
  const name = user.email_address;
  const finish = (text: string, after?: () => void) => ({
    onSuccess: () => {
      toasts.showSuccess(text);
      after?.();
    },
    onError: (error: Error) => toasts.showError(error.message),
    onSettled,
  });
  const createLink = () =>
    linking.mutate(
      { given },
      {
        onSuccess: ({ value }) => onLink({ email: name, meta: value.Meta }),
        onError: error => toasts.showError(error.message),
      },
    );
  const confirmations = {
    revoke: {
      ...own.revoking,
      tier: 2,
      isBusy: revoking.isPending,
      run: () => revoking.mutate({ given }, finish(own.revoked(name))),
    },
    factor: {
      ...own.clearing,
      tier: 3,
      isBusy: clearing.isPending,
      run: () => clearing.mutate({ given }, finish(own.factorRemoved(name))),
    },
    delete: {
      ...own.deleting,
      tier: 3,
      isBusy: removing.isPending,
      run: () => removing.mutate({ given }, finish(own.deleted(name), onDeleted)),
    },
  } as const;
  return { confirmations, createLink };
}
