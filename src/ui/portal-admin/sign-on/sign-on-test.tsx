import { StatusPill, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';

const own = adminTexts.signOn;
const tones = { passed: 'success', failed: 'danger', skipped: 'neutral' } as const satisfies Record<string, Tone>;
const maxRows = 1000;

/** Addresses of a saved profile, and checks of its provider by the server. */
export function SignOnTest({ profileId }: { profileId: string }) {
  const list = useOperation('GET /portal-api/sso_profiles', { query: { per_page: maxRows } });
  const { data, error, isPending, mutate } = useWrite('POST /portal-api/sso_profiles/{profile_id}/test', []);
  const row = list.data?.value.find(({ ID }) => ID === profileId);
  return (
    <Card title={own.addresses}>
      <div className="flex flex-col items-start gap-3">
        {row && (
          <dl className="flex flex-col gap-2 break-all">
            <dt className="text-dim">{own.columns.loginUrl}</dt>
            <dd>{row.LoginURL}</dd>
            <dt className="text-dim">{own.redirectUrl}</dt>
            <dd>{row.RedirectURL}</dd>
          </dl>
        )}
        <Button isBusy={isPending} onClick={() => mutate({ given: { params: { profile_id: profileId } } })}>
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
      </div>
    </Card>
  );
}
