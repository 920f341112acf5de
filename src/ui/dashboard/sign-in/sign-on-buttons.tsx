import { LogIn } from 'lucide-react';
import { buttonClass } from '../../kit/button.tsx';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';
import { toLocalPath } from './return-path.ts';

/** Link to the page that starts the sign-on at an identity provider; it returns to `next`. */
function toStartAddress(startUrl: string, next: string): string | undefined {
  const url = URL.parse(startUrl, location.origin);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return undefined;
  url.searchParams.set('next', next);
  return url.href;
}

/** One button for each active identity profile. */
export function SignOnButtons({ next }: { next: string | undefined }) {
  const { data } = useOperation('GET /api/session/options', { query: {} });
  const profiles = data?.value.profiles ?? [];
  if (profiles.length === 0) return null;
  return (
    <div className="mt-4 flex flex-col gap-2 border-t border-line pt-4">
      {profiles.map(({ id, name, start_url }) => (
        <a key={id} href={toStartAddress(start_url, toLocalPath(next))} className={buttonClass()}>
          <LogIn size={16} strokeWidth={1.5} aria-hidden />
          <span className="min-w-0 truncate">{texts.signIn.signOnWith(name)}</span>
        </a>
      ))}
    </div>
  );
}
