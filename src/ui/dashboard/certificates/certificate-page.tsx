import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Replace, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card, FactList } from '../../kit/card.tsx';
import { IdText } from '../../kit/copy.tsx';
import { formatTime } from '../../kit/format.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';
import { CertificateState } from './certificate-state.tsx';
import { DeleteCertificateDialog } from './delete-certificate-dialog.tsx';
import { ReplaceCertificateDialog } from './replace-certificate-dialog.tsx';

const own = texts.certificates;
type CertificateData = ResultOf<'GET /api/certs/{certId}'>;

const nameOf = ({ subject, dns_names }: CertificateData) => subject.CommonName || dns_names[0] || own.noSubject;
const formatDate = (time: string) => (Date.parse(time) > 0 ? formatTime(Date.parse(time)) : '–');

/** One certificate: readable facts, and everything that uses it. */
export function CertificatePage() {
  const { certId } = useParams({ from: '/shell/certificates/$certId' });
  const canWrite = usePermission('certs:write');
  const navigate = useNavigate();
  const canWriteApis = usePermission('apis:write');
  const [isDeleting, setDeleting] = useState(false);
  const [isReplacing, setReplacing] = useState(false);
  const query = useOperation('GET /api/certs/{certId}', { params: { certId } });
  if (!query.data) return <QueryState query={query} />;
  const certificate = query.data.value;
  const name = nameOf(certificate);
  return (
    <PageFrame
      title={name}
      status={<CertificateState certificate={certificate} />}
      about={<IdText id={certId} maxChars={24} />}
      actions={
        canWrite && (
          <>
            {canWriteApis && (
              <Button icon={Replace} onClick={() => setReplacing(true)}>
                {own.replace}
              </Button>
            )}
            <Button icon={Trash2} onClick={() => setDeleting(true)}>
              {own.delete}
            </Button>
          </>
        )
      }
    >
      <div className="grid items-start gap-4 min-[1100px]:grid-cols-2">
        <Facts certificate={certificate} />
        <Uses certId={certId} />
      </div>
      {isReplacing && (
        <ReplaceCertificateDialog
          certId={certId}
          fingerprint={certificate.fingerprint}
          onClose={() => setReplacing(false)}
        />
      )}
      <DeleteCertificateDialog
        certificate={isDeleting ? { id: certId, name } : undefined}
        onClose={() => setDeleting(false)}
        onDeleted={() => void navigate({ to: '/certificates' })}
      />
    </PageFrame>
  );
}

const Facts = ({ certificate }: { certificate: CertificateData }) => {
  const { subject, issuer, dns_names, not_before, not_after, has_private, is_ca, fingerprint } = certificate;
  return (
    <Card title={own.facts}>
      <FactList
        rows={[
          [own.columns.subject, subject.CommonName || '–'],
          [own.organization, subject.Organization.join(', ') || '–'],
          [own.columns.names, dns_names.join(', ') || '–'],
          [own.columns.issuer, issuer.CommonName || '–'],
          [own.validFrom, formatDate(not_before)],
          [own.columns.until, formatDate(not_after)],
          [own.columns.key, has_private ? texts.kit.yes : texts.kit.no],
          [own.columns.authority, is_ca ? texts.kit.yes : texts.kit.no],
          [
            own.fingerprint,
            <code key="fingerprint" className="font-mono text-small break-all">
              {fingerprint}
            </code>,
          ],
        ]}
      />
    </Card>
  );
};

/** APIs by role, and the key that is bound to the certificate. */
function Uses({ certId }: { certId: string }) {
  const canOpenApis = usePermission('apis');
  const canOpenKeys = usePermission('keys');
  const apis = useOperation('GET /api/certs/{certId}/apis', { params: { certId }, query: { p: -1 } });
  const bound = useOperation('GET /api/certs/dependencies/{certId}', { params: { certId } });
  if (!apis.data || !bound.data) return <QueryState query={apis.data ? bound : apis} lines={3} />;
  const key = bound.data.value.key_cert;
  const list = apis.data.value.apis;
  return (
    <Card title={own.uses}>
      {list.length === 0 && !key && <p className="text-dim">{own.noUses}</p>}
      <ul className="flex flex-col gap-2">
        {list.map(({ api_id, name, usage_type }) => (
          <li key={api_id} className="flex flex-wrap items-center gap-2">
            {canOpenApis ? (
              <Link to="/apis/$apiId" params={{ apiId: api_id }} className="row-link">
                {name || api_id}
              </Link>
            ) : (
              <span className="font-medium">{name || api_id}</span>
            )}
            {usage_type.map(role => (
              <Badge key={role}>{own.roles[role] ?? role}</Badge>
            ))}
          </li>
        ))}
        {key && (
          <li className="flex flex-wrap items-center gap-2">
            <span>{own.keysBound}</span>
            {canOpenKeys ? (
              <Link to="/keys/$keyHash" params={{ keyHash: key }} className="row-link font-mono">
                {key}
              </Link>
            ) : (
              <code className="font-mono">{key}</code>
            )}
          </li>
        )}
      </ul>
    </Card>
  );
}
