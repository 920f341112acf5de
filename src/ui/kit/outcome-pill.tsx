import { sharedTexts } from '../texts/shared-texts.ts';
import { StatusPill } from './badge.tsx';

const own = sharedTexts.audit;

/** Outcome of a request in words, by its status. */
export function OutcomePill({ status }: { status: number }) {
  if (status < 400) return <StatusPill tone="success">{own.done(status)}</StatusPill>;
  if (status < 500) return <StatusPill tone="warning">{own.refused(status)}</StatusPill>;
  return <StatusPill tone="danger">{own.failed(status)}</StatusPill>;
}
