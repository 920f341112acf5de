import { z } from 'zod';
import { createPublicId } from '#base/ids.ts';
import { Problem } from '#base/problems.ts';
import type { PlaneFaults } from './control-plane.ts';
import type { createDashboardClient } from './control-plane-calls.ts';

type DashboardCalls = Pick<ReturnType<typeof createDashboardClient>, 'call' | 'callMaybe'>;

const anything = z.unknown();
const Me = z.looseObject({ org_id: z.string() });
const credentialStatuses: readonly unknown[] = [401, 403];

/**
 * One text for an address without a listener, one that is refused, and a server that is no dashboard: the test must not
 * tell what responds in the networks of the portal, nor how.
 */
export const noDashboard =
  'no dashboard responded: check the address, its certificate, and that the portal can reach it';

/** Paths whose deletion needs the permission to write; no object has the id. */
const writePaths = {
  apis: '/api/apis/',
  policies: '/api/portal/policies/',
  keys: '/api/keys/',
  certificates: '/api/certs/',
} as const;

/**
 * Test of a dashboard: reads the user of the access key, then deletes objects that do not exist, since a refusal tells
 * whether the user may write, also where groups or rules decide. Any other failure is one of the connection, and leaves
 * the permission untested.
 */
export async function checkDashboard({ call, callMaybe }: DashboardCalls, orgId: string): Promise<PlaneFaults> {
  const me = await attempt(() => call(Me, 'GET', '/api/users/me'));
  if ('fault' in me) {
    const isRefused = me.isDashboard && credentialStatuses.includes(me.status);
    return isRefused ? { url: '', secret: me.fault } : { url: noDashboard };
  }
  const found = me.value.org_id;
  const organisation = orgId === '' || orgId === found ? '' : `the access key is of the organisation ${found}`;
  const removals = await Promise.all(
    Object.entries(writePaths).map(async ([permission, path]) => {
      const removed = await attempt(() => callMaybe(anything, 'DELETE', path + createPublicId()));
      return 'fault' in removed ? { permission, ...removed } : { permission, fault: '', status: 404 };
    }),
  );
  const isTested = ({ fault, status }: (typeof removals)[number]) =>
    fault === '' || credentialStatuses.includes(status);
  const url = removals.find(it => !isTested(it))?.fault ?? '';
  const permissions = removals.filter(isTested).map(({ permission, fault }) => [permission, fault] as const);
  return { url, secret: '', organisation, ...Object.fromEntries(permissions) };
}

type Attempt<T> =
  | { readonly value: T }
  | { readonly fault: string; readonly status: unknown; readonly isDashboard: boolean };

async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { reason, status, isDashboard } = error.detail;
    return { fault: String(reason), status, isDashboard: isDashboard === true };
  }
}
