import { Bell } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { IconButton } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';
import { useNotifications } from './use-notifications.ts';

const NotificationList = lazy(() => import('./notification-list.tsx'));
/** A larger number has no room in the circle. */
const maxShown = 9;

/** Opens the notifications of the user and shows how many are unread. */
export function NotificationButton() {
  const canRead = usePermission('websockets');
  const { data } = useNotifications(canRead);
  const [isOpen, setIsOpen] = useState(false);
  if (!canRead) return null;
  const unread = data?.value.unread ?? 0;
  return (
    <span className="relative">
      <IconButton
        icon={Bell}
        label={unread > 0 ? texts.shell.unreadNotifications(unread) : texts.shell.notifications}
        onClick={() => setIsOpen(true)}
      />
      {unread > 0 && (
        <span
          aria-hidden
          className={
            'pointer-events-none absolute top-0 right-0 min-w-4 rounded-full bg-danger-solid px-1 text-center ' +
            'text-[10px] leading-4 font-semibold text-on-accent'
          }
        >
          {unread > maxShown ? `${maxShown}+` : unread}
        </span>
      )}
      <Dialog isOpen={isOpen} onClose={() => setIsOpen(false)} title={texts.shell.notifications}>
        <Suspense>
          <NotificationList onLeave={() => setIsOpen(false)} />
        </Suspense>
      </Dialog>
    </span>
  );
}
