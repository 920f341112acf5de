import { useState } from 'react';
import { callServer } from '../../kit/calls.ts';
import { useReload } from '../../kit/queries.ts';

export type Decision = 'approve' | 'reject';

interface DecisionDetails {
  /** Of a rejection. */
  readonly reason?: string | undefined;
  /** Plan that an approval grants in place of the requested one. */
  readonly planId?: number | undefined;
  /** Opens another page before the queries are read again, where the decided request does not exist any more. */
  readonly leave?: () => Promise<void>;
}

export interface DecisionFailure {
  readonly id: number;
  readonly reason: string;
}

/** Decides on requests one after the other: each approval creates a key at its provider. Failures stay pending. */
export function useDecisions() {
  const reload = useReload([
    'GET /portal-api/access_requests',
    'GET /portal-api/access_requests/{access_request_id}',
    'GET /portal-api/apps/{app_id}',
  ]);
  const [isBusy, setBusy] = useState(false);
  const decide = async (
    decision: Decision,
    ids: readonly number[],
    { reason = '', planId, leave }: DecisionDetails = {},
  ): Promise<readonly DecisionFailure[]> => {
    setBusy(true);
    const failures: DecisionFailure[] = [];
    for (const id of ids) {
      const given = { params: { access_request_id: String(id) } };
      try {
        if (decision === 'approve')
          await callServer('PUT /portal-api/access_requests/{access_request_id}/approve', {
            ...given,
            query: planId === undefined ? {} : { plan_id: planId },
          });
        else
          await callServer('PUT /portal-api/access_requests/{access_request_id}/reject', {
            ...given,
            query: { reason },
          });
      } catch (error) {
        failures.push({ id, reason: error instanceof Error ? error.message : String(error) });
      }
    }
    if (failures.length === 0) await leave?.();
    await reload().finally(() => setBusy(false));
    return failures;
  };
  return { isBusy, decide };
}
