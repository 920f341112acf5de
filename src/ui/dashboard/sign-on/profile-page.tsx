import { useNavigate, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { CopyButton } from '../../kit/copy.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { signOnTexts } from '../../texts/en/sign-on.ts';
import { texts } from '../../texts/texts.ts';
import { HistoryLink } from '../history/history-link.tsx';
import { usePermission } from '../session/session.ts';
import { DeleteProfileDialog } from './delete-profile-dialog.tsx';
import { LastSuccess } from './last-success.tsx';
import { emptyProfile, type ProfileData, toProfileBody } from './profile-draft.ts';
import { ProfileForm } from './profile-form.tsx';

const own = signOnTexts;

export function SignOnProfilePage() {
  const { profileId } = useParams({ from: '/shell/sign-on/$profileId' });
  const query = useOperation('GET /api/sso/profiles/{profileId}', { params: { profileId } });
  if (!query.data) return <QueryState query={query} />;
  return <StoredProfile key={profileId} profile={query.data.value} etag={query.data.etag} />;
}

function StoredProfile({ profile, etag }: { profile: ProfileData; etag: string | undefined }) {
  const canWrite = usePermission('idm:write');
  const canReadAudit = usePermission('audit_logs');
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const stored = useMemo(() => toProfileBody(profile), [profile]);
  return (
    <PageFrame
      title={profile.Name}
      status={
        <StatusPill tone={profile.Active ? 'success' : 'neutral'}>
          {profile.Active ? own.states.active : own.states.inactive}
        </StatusPill>
      }
      actions={
        <>
          <HistoryLink kind="profiles" id={profile.ID} name={profile.Name} />
          {canWrite && <Button onClick={() => setDeleting(true)}>{own.delete}</Button>}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <div className="max-w-[960px]">
          <Card title={own.addresses}>
            <dl className="flex flex-col gap-2">
              <Address label={own.loginUrl} url={profile.LoginURL} />
              <Address label={own.redirectUrl} url={profile.RedirectURL} />
              {canReadAudit && (
                <div>
                  <dt className="text-dim">{own.lastSuccess}</dt>
                  <dd>
                    <LastSuccess profileId={profile.ID} />
                  </dd>
                </div>
              )}
            </dl>
          </Card>
        </div>
        <ProfileForm stored={stored} etag={etag} profileId={profile.ID} canWrite={canWrite} />
      </div>
      <DeleteProfileDialog
        profile={isDeleting ? profile : undefined}
        onClose={() => setDeleting(false)}
        onDeleted={() => void navigate({ to: '/sign-on' })}
      />
    </PageFrame>
  );
}

const Address = ({ label, url }: { label: string; url: string }) => (
  <div>
    <dt className="text-dim">{label}</dt>
    <dd className="flex items-center gap-1">
      <code className="min-w-0 font-mono text-small break-all">{url}</code>
      <CopyButton text={url} label={`${texts.kit.copy} ${label}`} />
    </dd>
  </div>
);

export function NewSignOnProfilePage() {
  return (
    <PageFrame title={own.newTitle}>
      <ProfileForm stored={emptyProfile} canWrite />
    </PageFrame>
  );
}
