import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import { operation } from '#operations/operation.ts';
import { problem } from './problems.ts';
import { type HookSecretStore, inlineSecret } from './secret-store.ts';
import type { HookStore } from './store.ts';

export interface HookSecretServices {
  hooks: HookStore;
  hookSecrets: HookSecretStore;
  clock: Clock;
}

const params = z.object({
  hookId: z.string().describe('Id of a webhook, or inline for handlers inside definitions'),
});
const secretResponse = z.object({ secret: z.string() });
const declared = { surface: 'dashboard', noun: 'webhooks', path: '/api/hooks/{hookId}/secret' } as const;
const operatorSurface = {
  surface: 'admin',
  noun: 'webhooks',
  path: '/admin/hooks/secret',
  permission: 'secret',
} as const;

/** Reading a signing secret takes hooks:write, since it allows forging calls. */
async function resolveHookId({ hooks }: HookSecretServices, orgId: string, hookId: string): Promise<string> {
  if (hookId === inlineSecret) return inlineSecret;
  const hook = await hooks.get(orgId, hookId);
  if (!hook) throw problem.not_found();
  return hook.id;
}

async function readSecret({ hookSecrets, clock }: HookSecretServices, orgId: string, hook: string) {
  const [secret] = await hookSecrets.readSigningSecrets(orgId, hook, clock.now());
  return { secret: secret! };
}

async function replaceSecret({ hookSecrets, clock }: HookSecretServices, orgId: string, hook: string) {
  return { secret: await hookSecrets.replace(orgId, hook, clock.now()) };
}

export const getHookSecret = operation({
  ...declared,
  name: 'getHookSecret',
  method: 'GET',
  about: 'Returns the secret that signs deliveries of a webhook.',
  permission: 'hooks:write',
  params,
  returns: secretResponse,
  problems: [problem.not_found],
  handle: async ({ actor: { orgId }, params: { hookId } }, services: HookSecretServices) =>
    readSecret(services, orgId, await resolveHookId(services, orgId, hookId)),
});

export const replaceHookSecret = operation({
  ...declared,
  name: 'replaceHookSecret',
  method: 'POST',
  changesTraffic: true,
  about: 'Rotates the secret of a webhook. For a day deliveries are signed with the old one as well.',
  permission: 'hooks:write',
  params,
  returns: secretResponse,
  problems: [problem.not_found],
  async handle({ actor: { orgId }, params: { hookId }, audit }, services: HookSecretServices) {
    audit(hookId);
    return replaceSecret(services, orgId, await resolveHookId(services, orgId, hookId));
  },
});

export const getOperatorHookSecret = operation({
  ...operatorSurface,
  name: 'getOperatorHookSecret',
  method: 'GET',
  about: 'Returns the secret that signs deliveries of the webhooks in the settings.',
  returns: secretResponse,
  handle: (_call, services: HookSecretServices) => readSecret(services, '', inlineSecret),
});

export const replaceOperatorHookSecret = operation({
  ...operatorSurface,
  name: 'replaceOperatorHookSecret',
  method: 'POST',
  about:
    'Rotates the secret of the webhooks in the settings. For a day deliveries are signed with the old one as well.',
  returns: secretResponse,
  handle({ audit }, services: HookSecretServices) {
    audit(inlineSecret);
    return replaceSecret(services, '', inlineSecret);
  },
});

export const hookSecretOperations = [
  getHookSecret,
  replaceHookSecret,
  getOperatorHookSecret,
  replaceOperatorHookSecret,
];
