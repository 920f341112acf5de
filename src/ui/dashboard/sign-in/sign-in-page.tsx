import { useQueryClient } from '@tanstack/react-query';
import { Link, useRouter, useSearch } from '@tanstack/react-router';
import { texts } from '../../texts/texts.ts';
import { storeSession } from '../session/session.ts';
import { findFirstPage } from './first-page.ts';
import { PublicPage } from './public-page.tsx';
import { toLocalPath } from './return-path.ts';
import { SignInForm } from './sign-in-form.tsx';
import { SignOnButtons } from './sign-on-buttons.tsx';

export function SignInPage() {
  const { next } = useSearch({ from: '/login' });
  const client = useQueryClient();
  const router = useRouter();
  return (
    <PublicPage title={texts.signIn.title}>
      <SignInForm
        onSignedIn={session => {
          storeSession(client, session);
          const open = (path: string) => router.history.push(path);
          // The page that opens reports a server that fails.
          findFirstPage(client, session, next).then(open, () => open(toLocalPath(next)));
        }}
      />
      <SignOnButtons next={next} />
      <p className="mt-4 flex flex-col gap-2 text-small text-dim">
        <Link to="/login/forgotten" className="text-accent-ink underline">
          {texts.signIn.forgotten}
        </Link>
        <span>{texts.signIn.firstStart}</span>
      </p>
    </PublicPage>
  );
}
