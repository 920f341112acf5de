import type { Problem } from '#base/problems.ts';
import type { StoredTeam } from '../organisations/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { problem } from '../problems.ts';
import type { StoredInviteCode } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'clock'>;

/** Why a code is refused; undefined for one that can be used. */
function findCodeFault(code: StoredInviteCode | undefined, nowMs: number): Problem | undefined {
  if (!code) return problem.code_unknown();
  if (!code.Active) return problem.code_inactive();
  if (code.ExpiresAt !== 0 && code.ExpiresAt <= nowMs) return problem.code_expired();
  return code.Used >= code.Quota ? problem.code_exhausted() : undefined;
}

/** The team of a typed code that can be used; throws why it cannot. */
export async function findCodeTeam(text: string, services: Services): Promise<{ codeId: number; team: StoredTeam }> {
  const code = await services.portal.inviteCodes.findByCode(text);
  return requireUsable(code, services);
}

/** Inside a transaction: counts one use of a code; throws where it cannot be used any more. */
export async function redeemCode(codeId: number, services: Services): Promise<StoredTeam> {
  const { portal, clock } = services;
  const { team } = await requireUsable(await portal.inviteCodes.lock(codeId), services);
  await portal.inviteCodes.change(codeId, it => ({ ...it, Used: it.Used + 1, UpdatedAt: clock.now() }));
  return team;
}

async function requireUsable(code: StoredInviteCode | undefined, { portal, clock }: Services) {
  const fault = findCodeFault(code, clock.now());
  if (fault) throw fault;
  const team = await portal.teams.get(code!.TeamID);
  if (!team) throw problem.code_inactive();
  return { codeId: code!.ID, team };
}
