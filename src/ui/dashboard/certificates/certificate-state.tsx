import { StatusPill } from '../../kit/badge.tsx';
import { nowMs } from '../../kit/browser-clock.ts';
import { texts } from '../../texts/texts.ts';

const own = texts.certificates;
const dayMs = 86_400_000;
/** Certificates that end within this time are marked. */
const soonDays = 30;

interface Validity {
  readonly not_before: string;
  readonly not_after: string;
}

/** State by the dates, as icon and words. A public key alone has no dates. */
export function CertificateState({ certificate: { not_before, not_after } }: { certificate: Validity }) {
  const now = nowMs();
  const end = Date.parse(not_after);
  if (end <= 0) return <StatusPill tone="success">{own.valid}</StatusPill>;
  if (end <= now) return <StatusPill tone="danger">{own.expired}</StatusPill>;
  if (Date.parse(not_before) > now) return <StatusPill tone="warning">{own.notYet}</StatusPill>;
  const days = Math.ceil((end - now) / dayMs);
  if (days <= soonDays) return <StatusPill tone="warning">{own.expiresIn(days)}</StatusPill>;
  return <StatusPill tone="success">{own.valid}</StatusPill>;
}
