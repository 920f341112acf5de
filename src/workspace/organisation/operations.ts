import { z } from 'zod';
import type { Key } from '#access/keys/schema.ts';
import type { KeyStore } from '#access/keys/store.ts';
import { mailProblem } from '#base/mailer.ts';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { UserStore } from '#people/users/store.ts';
import { problem } from './problems.ts';
import type { TestMails } from './test-mails.ts';

interface Services {
  readonly keys: KeyStore;
  readonly settings: Settings;
  readonly testMails: TestMails;
  readonly users: UserStore;
}

const declared = { surface: 'dashboard', noun: 'organisation', permission: 'admin' } as const;

const days = z.int().describe('Number of days; 0 for ever');

const toLimits = ({ rate = 0, per = 0, quota_max = 0, quota_renewal_rate = 0 }: Key) => ({
  rate,
  per,
  quota_max,
  quota_renewal_rate,
});

export const getOrganisationSettings = operation({
  ...declared,
  name: 'getOrganisationSettings',
  method: 'GET',
  path: '/api/org/settings',
  about:
    'Returns what the operator set for the caller’s organisation: limits that all of its keys share, days for which data is stored, and whether mails are sent.',
  returns: z.object({
    limits: z
      .object({ rate: z.number(), per: z.number(), quota_max: z.number(), quota_renewal_rate: z.number() })
      .nullable()
      .describe('Limits of the organisation; null for none'),
    retention_days: z.object({ analytics: days, audit: days, history: days, deliveries: days }),
    has_mail_server: z.boolean(),
  }),
  async handle({ actor }, { keys, settings, testMails }: Services) {
    const stored = await keys.getAnywhere(actor.orgId);
    return {
      limits: stored?.kind === 'organisation' ? toLimits(stored.key) : null,
      retention_days: {
        analytics: settings['analytics.retention_days'],
        audit: settings['audit.retention_days'],
        history: settings['history.retention_days'],
        deliveries: settings['events.retention_days'],
      },
      has_mail_server: testMails.isConfigured,
    };
  },
});

export const sendTestMail = operation({
  ...declared,
  name: 'sendTestMail',
  method: 'POST',
  path: '/api/org/test-mail',
  about: 'Sends a test mail to the caller’s own address, and returns after the mail server has accepted it.',
  returns: statusResponse,
  problems: [mailProblem.not_configured, problem.test_mail_limited, problem.test_mail_failed],
  async handle({ actor, audit }, { testMails, users }: Services) {
    audit(actor.id);
    const email = actor.temporaryUser?.email ?? (await users.get(actor.orgId, actor.id))?.email_address;
    await testMails.send(actor.id, email ?? '');
    return toStatus('Test mail sent');
  },
});

export const organisationSettingsOperations = [getOrganisationSettings, sendTestMail];
