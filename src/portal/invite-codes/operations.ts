import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { PortalServices } from '../portal-stores.ts';
import { readPortalUrl } from '../portal-url.ts';
import { present, problem } from '../problems.ts';
import { numberedId, okResponse, okStatus, portalPageQuery } from '../shapes.ts';
import {
  defaultQuota,
  InviteCode,
  InviteCodeChange,
  InviteCodeWrite,
  type StoredInviteCode,
  toInviteCodeView,
} from './schema.ts';

const declared = { surface: 'portal', noun: 'invite codes', permission: 'secret' } as const;
const params = z.object({ invite_code_id: numberedId });
const listPath = '/portal-api/invite-codes';
const codePath = `${listPath}/{invite_code_id}`;
const maxCodesOfTeam = 1000;
type Services = Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>;

async function loadCodeView(code: StoredInviteCode, { portal, settings }: Services) {
  return toInviteCodeView(code, await portal.teams.get(code.TeamID), readPortalUrl(settings));
}

/** Inside a transaction: locks the team of another code, so that one deleted meanwhile gets none, nor one too many. */
async function lockTeam(id: number, { portal }: Services): Promise<void> {
  if (!(await portal.teams.lock(id)))
    throw createInvalidProblem([{ path: 'TeamID', message: `there is no team ${id}` }]);
  if ((await portal.inviteCodes.countOfTeam(id)) >= maxCodesOfTeam)
    throw problem.too_many_codes({ detail: { max: maxCodesOfTeam } });
}

export const listInviteCodes = operation({
  ...declared,
  name: 'listInviteCodes',
  method: 'GET',
  path: listPath,
  about: 'Lists the codes with which sign-ups join a team, newest first.',
  query: portalPageQuery,
  returns: z.array(InviteCode),
  async handle({ query }, { portal, settings }: Services) {
    const codes = await portal.inviteCodes.page(query);
    const teams = await portal.teams.byIds(codes.map(({ TeamID }) => TeamID));
    return codes.map(it => toInviteCodeView(it, teams.get(it.TeamID), readPortalUrl(settings)));
  },
});

export const createInviteCode = operation({
  ...declared,
  name: 'createInviteCode',
  method: 'POST',
  path: listPath,
  about: 'Creates a code: accounts that sign up with it join the team and its organisation.',
  body: InviteCodeWrite,
  example: { TeamID: 1, Quota: 10, Expires: '2030-01-31 12:00' },
  returns: InviteCode,
  status: 201,
  problems: [problem.too_many_codes],
  async handle({ body, audit }, services: Services) {
    const { portal, records, clock } = services;
    const now = clock.now();
    const created = await records.write(async () => {
      await lockTeam(body.TeamID, services);
      return portal.inviteCodes.insert({
        TeamID: body.TeamID,
        Quota: body.Quota ?? defaultQuota,
        Used: 0,
        ExpiresAt: body.Expires ?? 0,
        Active: body.Active ?? true,
        CreatedAt: now,
        UpdatedAt: now,
      });
    });
    audit(String(created.ID));
    return loadCodeView(created, services);
  },
});

export const getInviteCode = operation({
  ...declared,
  name: 'getInviteCode',
  method: 'GET',
  path: codePath,
  about: 'Returns an invite code.',
  params,
  returns: InviteCode,
  problems: [problem.not_found],
  async handle({ params: { invite_code_id } }, services: Services) {
    return loadCodeView(present(await services.portal.inviteCodes.get(invite_code_id), 'Invite code'), services);
  },
});

export const updateInviteCode = operation({
  ...declared,
  name: 'updateInviteCode',
  method: 'PUT',
  path: codePath,
  about: 'Changes team, quota, expiry or state of an invite code; the code itself stays.',
  params,
  body: InviteCodeChange,
  example: { Quota: 20, Expires: '2030-01-31 12:00' },
  returns: InviteCode,
  problems: [problem.unknown, problem.too_many_codes],
  async handle({ params: { invite_code_id: id }, body, audit }, services: Services) {
    const { portal, records, clock } = services;
    audit(String(id));
    const changed = await records.write(async () => {
      const before = present(await portal.inviteCodes.get(id), 'Invite code', 'unknown');
      if (body.TeamID !== undefined && body.TeamID !== before.TeamID) await lockTeam(body.TeamID, services);
      return portal.inviteCodes.change(id, it => ({
        ...it,
        TeamID: body.TeamID ?? it.TeamID,
        Quota: body.Quota ?? it.Quota,
        ExpiresAt: body.Expires ?? it.ExpiresAt,
        Active: body.Active ?? it.Active,
        UpdatedAt: clock.now(),
      }));
    });
    return loadCodeView(present(changed, 'Invite code', 'unknown'), services);
  },
});

export const deleteInviteCode = operation({
  ...declared,
  name: 'deleteInviteCode',
  method: 'DELETE',
  path: codePath,
  about: 'Deletes an invite code; accounts created with it stay.',
  params,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { invite_code_id }, audit }, { portal }: Pick<PortalServices, 'portal'>) {
    audit(String(invite_code_id));
    present((await portal.inviteCodes.remove(invite_code_id)) || undefined, 'Invite code');
    return okStatus;
  },
});

export const inviteCodeOperations = [
  listInviteCodes,
  createInviteCode,
  getInviteCode,
  updateInviteCode,
  deleteInviteCode,
];
