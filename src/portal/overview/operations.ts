import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { type AccountServices, canSignUp } from '../accounts/account-services.ts';
import { type AllUsageServices, readDailyUsage } from '../site/usage/daily-usage.ts';

type OverviewServices = AllUsageServices & Pick<AccountServices, 'settings' | 'mailer'>;

const dayMs = 86_400_000;

const Counts = z.object({
  Day: z.string(),
  AccessRequests: z.int(),
  SignUps: z.int(),
  Calls: z.int(),
  Errors: z.int(),
});

export const getPortalOverview = operation({
  surface: 'portal',
  noun: 'portal overview',
  permission: 'secret',
  name: 'getPortalOverview',
  method: 'GET',
  path: '/portal-api/overview',
  about:
    'Returns access requests, new users and calls of all apps by day in UTC, oldest first, and what waits for an ' +
    'administrator.',
  query: z.object({ days: z.coerce.number().int().min(1).max(90).default(30).describe('Number of days') }),
  returns: z.object({
    Days: z.array(Counts),
    Waiting: z.object({
      AccessRequests: z.int(),
      OrganisationRequests: z.int(),
      InactiveUsers: z.int(),
      ProvidersDown: z.int(),
      FailedMails: z.int(),
    }),
    Totals: z.object({ Products: z.int(), Plans: z.int(), Apps: z.int(), Users: z.int() }),
    Site: z.object({
      Registration: z.enum(['off', 'approval', 'open']).describe('Setting `portal.registration`'),
      SignUp: z.boolean().describe('Developers can sign up: registration is on, and there is a mail server'),
      Mail: z.boolean().describe('There is a mail server; without one no mail is sent'),
    }),
  }),
  async handle({ query: { days } }, services: OverviewServices) {
    const { portal, clock } = services;
    const today = Math.floor(clock.now() / dayMs);
    const since = (today - days + 1) * dayMs;
    const requests = await portal.accessRequests.countByDay(since);
    const signUps = await portal.users.countByDay(since);
    const calls = await readDailyUsage(days, services);
    const Days = Array.from({ length: days }, (_, place) => {
      const day = today - days + 1 + place;
      return {
        Day: new Date(day * dayMs).toISOString().slice(0, 10),
        AccessRequests: requests.get(day) ?? 0,
        SignUps: signUps.get(day) ?? 0,
        Calls: calls.get(day)?.calls ?? 0,
        Errors: calls.get(day)?.errors ?? 0,
      };
    });
    const { settings, mailer } = services;
    const Site = {
      Registration: settings['portal.registration'],
      SignUp: canSignUp(services),
      Mail: mailer.isConfigured,
    };
    return { Days, Waiting: await countWaiting(services), Totals: await countAll(services), Site };
  },
});

async function countWaiting({ portal }: AllUsageServices) {
  return {
    AccessRequests: await portal.accessRequests.countLive({ status: 'pending' }),
    OrganisationRequests: await portal.organisationRequests.count({ status: 'pending' }),
    InactiveUsers: await portal.users.countInactive(),
    ProvidersDown: (await portal.providers.all()).filter(({ Status }) => Status === 'Down').length,
    FailedMails: await portal.mails.countFailed(),
  };
}

const countAll = async ({ portal }: AllUsageServices) => ({
  Products: await portal.products.count(),
  Plans: await portal.plans.count(),
  Apps: await portal.apps.count(),
  Users: await portal.users.count(),
});
