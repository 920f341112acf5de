import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { setReauthentication } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { texts } from '../../texts/texts.ts';
import { storeSession, useSession } from '../session/session.ts';

const SignInForm = lazy(async () => ({ default: (await import('../sign-in/sign-in-form.tsx')).SignInForm }));

/** Sign-in over the page after the end of a session; the calls that failed wait for it. */
export function SessionEndedDialog() {
  const client = useQueryClient();
  const { user } = useSession();
  const [isOpen, setOpen] = useState(false);
  const waiting = useRef<(() => void)[]>([]);
  useEffect(() => {
    setReauthentication(() => {
      setOpen(true);
      return new Promise(resolve => waiting.current.push(resolve));
    });
    return () => setReauthentication(undefined);
  }, []);
  return (
    <Dialog
      isOpen={isOpen}
      isModalOnly
      onClose={() => setOpen(false)}
      title={texts.shell.sessionEnded}
      about={texts.shell.sessionEndedHelp}
    >
      <Suspense>
        <SignInForm
          username={user.email_address}
          onSignedIn={session => {
            // Another account: nothing of the page belongs to it.
            if (session.user.id !== user.id) return location.reload();
            storeSession(client, session);
            setOpen(false);
            for (const resolve of waiting.current.splice(0)) resolve();
          }}
        />
      </Suspense>
    </Dialog>
  );
}
