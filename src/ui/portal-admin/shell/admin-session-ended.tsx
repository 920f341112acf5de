import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { Button, buttonClass } from '../../kit/button.tsx';
import { setReauthentication } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { reloadAdminSession, toSignInAddress, useAdminSession } from '../session/admin-session.ts';

const own = adminTexts.shell;

/**
 * Over the page after the end of a session: the user signs in at the site in another tab, and the calls that failed are
 * repeated; nothing that was typed is lost.
 */
export function AdminSessionEndedDialog() {
  const client = useQueryClient();
  const user = useAdminSession();
  const [isOpen, setOpen] = useState(false);
  const [isMissing, setMissing] = useState(false);
  const waiting = useRef<(() => void)[]>([]);
  // The read of the session itself is refused too: it must not wait for the dialog that it decides on.
  const register = useCallback(() => {
    setReauthentication(() => {
      setOpen(true);
      return new Promise(resolve => waiting.current.push(resolve));
    });
  }, []);
  useEffect(() => {
    register();
    return () => setReauthentication(undefined);
  }, [register]);
  const proceed = async () => {
    setReauthentication(undefined);
    const found = await reloadAdminSession(client).finally(register);
    // Another account: nothing of the page belongs to it.
    if (found && found.ID !== user.ID) return location.reload();
    setMissing(!found);
    if (!found) return;
    setOpen(false);
    for (const resolve of waiting.current.splice(0)) resolve();
  };
  return (
    <Dialog
      isOpen={isOpen}
      isModalOnly
      onClose={() => setOpen(false)}
      title={own.sessionEnded}
      about={own.sessionEndedAbout}
      footer={
        <>
          <a href={toSignInAddress('/admin')} target="_blank" rel="noreferrer" className={buttonClass('secondary')}>
            {own.signInAgain}
          </a>
          <Button kind="primary" onClick={() => void proceed()}>
            {own.proceed}
          </Button>
        </>
      }
    >
      <p role="status">{isMissing ? own.stillEnded : own.sessionOf(user.Email)}</p>
    </Dialog>
  );
}
