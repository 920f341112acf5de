import { z } from 'zod';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { GroupStore } from '../groups/store.ts';
import { problem as peopleProblem } from '../problems.ts';
import { rejectOutranking } from '../users/grant-check.ts';
import type { UserStore } from '../users/store.ts';
import { type AccountLinkStore, toAccountLinkView } from './account-link-store.ts';

export interface AccountLinkServices {
  accountLinks: AccountLinkStore;
  users: UserStore;
  groups: GroupStore;
}

const declared = { surface: 'dashboard', noun: 'users', permission: 'admin' } as const;
const params = z.object({ userId: z.string() });

async function findUser({ users, groups }: AccountLinkServices, actor: Actor, userId: string) {
  const user = await users.get(actor.orgId, userId);
  if (!user) throw peopleProblem.user_not_found();
  await rejectOutranking(groups, actor, user);
  return user;
}

export const listAccountLinks = operation({
  ...declared,
  name: 'listAccountLinks',
  method: 'GET',
  path: '/api/users/{userId}/links',
  about: 'Lists the users of identity providers that an account is linked to, oldest first. Requires an administrator.',
  params,
  returns: z.object({
    links: z.array(
      z.object({
        issuer: z.string().describe('Issuer of OpenID Connect, entity id of SAML, host of a directory'),
        subject: z.string().describe('Identifier of the user at the provider'),
        created_at: z.string(),
      }),
    ),
  }),
  problems: [peopleProblem.user_not_found, peopleProblem.user_outranks],
  async handle({ actor, params: { userId } }, services: AccountLinkServices) {
    const { id, org_id } = await findUser(services, actor, userId);
    return { links: (await services.accountLinks.list(org_id, id)).map(toAccountLinkView) };
  },
});

export const removeAccountLinks = operation({
  ...declared,
  name: 'removeAccountLinks',
  method: 'DELETE',
  path: '/api/users/{userId}/links',
  about:
    'Removes the links of an account: the next sign-on with its verified e-mail address makes a new one. Requires an administrator.',
  params,
  returns: statusResponse,
  problems: [peopleProblem.user_not_found, peopleProblem.user_outranks],
  async handle({ actor, params: { userId }, audit }, services: AccountLinkServices) {
    audit(userId);
    const { id, org_id } = await findUser(services, actor, userId);
    return toStatus('Links removed', await services.accountLinks.removeAll(org_id, id));
  },
});

export const accountLinkOperations = [listAccountLinks, removeAccountLinks];
