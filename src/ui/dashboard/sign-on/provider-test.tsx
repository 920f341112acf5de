import { StatusPill, type Tone } from '../../kit/badge.tsx';
import { Button, buttonClass } from '../../kit/button.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { signOnTexts } from '../../texts/en/sign-on.ts';
import type { ProfileBody } from './profile-draft.ts';

const own = signOnTexts;
const tones = { passed: 'success', failed: 'danger', skipped: 'neutral' } as const satisfies Record<string, Tone>;

interface ProviderTestProps {
  readonly body: ProfileBody;
  /** Saved profile without edits: tested with its stored secrets. */
  readonly profileId?: string;
}

/** Checks of the server: whether the provider is reachable, and what it publishes valid. */
export function ProviderTest({ body, profileId }: ProviderTestProps) {
  const fresh = useWrite('POST /api/sso/profiles/test');
  const saved = useWrite('POST /api/sso/profiles/{profileId}/test');
  const { data, error, isPending } = profileId === undefined ? fresh : saved;
  const run = () =>
    profileId === undefined ? fresh.mutate({ given: { body } }) : saved.mutate({ given: { params: { profileId } } });
  return (
    <div className="flex flex-col items-start gap-3">
      <Button isBusy={isPending} onClick={run}>
        {own.test}
      </Button>
      <ErrorText error={error} />
      {data && (
        <ul aria-label={own.testTitle} className="flex flex-col gap-1">
          {data.value.checks.map(({ check, status, message }) => (
            <li key={check} className="flex flex-wrap items-center gap-2">
              <StatusPill tone={tones[status]}>{own.checks[status]}</StatusPill>
              <span className="font-medium">{check}</span>
              <span className="break-words text-dim">{message}</span>
            </li>
          ))}
        </ul>
      )}
      {profileId !== undefined && saved.data?.value.test_url && (
        <a href={saved.data.value.test_url} target="_blank" rel="noreferrer" className={buttonClass('secondary')}>
          {own.testAccount}
        </a>
      )}
    </div>
  );
}
