import { useBatchedOperation } from '../../kit/queries.ts';
import { listColumnTexts as own } from '../../texts/en/list-columns.ts';

interface SecondFactorCellProps {
  readonly userId: string;
  /** Ids of the page: one request reads their factors together, and equal reads of its cells share it. */
  readonly userIds: readonly string[];
}

/** Authenticator app and passkeys of a user. */
export function SecondFactorCell({ userId, userIds }: SecondFactorCellProps) {
  const pages = useBatchedOperation('GET /api/users/second-factors', userIds, ids => ({ query: { ids } }));
  if (!pages) return null;
  const found = pages.flatMap(({ users }) => users).find(({ id }) => id === userId);
  if (!found) return <span className="text-dim">{own.noFactor}</span>;
  const { totp, passkeys } = found;
  return [...(totp ? [own.app] : []), ...(passkeys > 0 ? [own.passkeys(passkeys)] : [])].join(', ');
}
