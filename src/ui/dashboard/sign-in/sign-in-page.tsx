import { useQueryClient } from '@tanstack/react-query';
import { Link, useRouter, useSearch } from '@tanstack/react-router';
import { texts } from '../../texts/texts.ts';
import { storeSession } from '../session/session.ts';
import { PublicPage } from './public-page.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Return address: a path of this origin, never another one. */
function toLocalPath(next: string | undefined): string {
  const url = next?.startsWith('/') ? URL.parse(next, location.origin) : null;
  // Normalisation can leave two slashes at the front, which name a host: /.//example.org.
  const isLocal = url?.origin === location.origin && !url.pathname.startsWith('//');
  return isLocal ? url.pathname + url.search : '/';
}

export function SignInPage() {
  const { next } = useSearch({ from: '/login' });
  const client = useQueryClient();
  const router = useRouter();
  return (
    <PublicPage title={texts.signIn.title}>
      <SignInForm
        onSignedIn={session => {
          storeSession(client, session);
          router.history.push(toLocalPath(next));
        }}
      />
      <p className="mt-4 flex flex-col gap-2 text-small text-dim">
        <Link to="/login/forgotten" className="text-accent-ink underline">
          {texts.signIn.forgotten}
        </Link>
        <span>{texts.signIn.firstStart}</span>
      </p>
    </PublicPage>
  );
}
