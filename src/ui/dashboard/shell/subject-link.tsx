import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';

const own = texts.shell.incident;

export type Notification = ResultOf<'GET /api/notifications'>['notifications'][number];

interface SubjectLinkProps {
  readonly notification: Notification;
  onClick?(): void;
}

/** Link to the object that a notification is about, where the user may open its page. */
export function SubjectLink({ notification: { topic, data }, onClick }: SubjectLinkProps) {
  const canReadCertificates = usePermission('certs');
  const shared = { className: buttonClass(), ...(onClick ? { onClick } : {}) };
  switch (topic) {
    case 'api.not_served':
      return (
        <Link to="/apis/$apiId" params={{ apiId: String(data.api_id) }} {...shared}>
          {own.openApi}
        </Link>
      );
    case 'webhook.dead_letters':
      return (
        <Link to="/deliveries" search={{ hook_id: String(data.hook_id), state: 'dead' }} {...shared}>
          {own.openDeliveries}
        </Link>
      );
    case 'certificate.expiry':
      return canReadCertificates ? (
        <Link to="/certificates/$certId" params={{ certId: String(data.cert_id) }} {...shared}>
          {own.openCertificate}
        </Link>
      ) : null;
  }
}
