import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { problem as signOnProblem } from '#people/single-sign-on/problems.ts';
import { createPortalNonce, type PortalNonceServices, PortalSignOnRequest } from './nonce.ts';

export const createPortalSignOnNonce = operation({
  surface: 'portal',
  noun: 'sso profiles',
  permission: 'secret',
  name: 'createPortalSignOnNonce',
  method: 'POST',
  path: '/portal-api/sso',
  about:
    'Creates a nonce for a user whom a broker has authenticated: GET /sso?nonce=… signs the user on to the portal, once and within 60 seconds.',
  body: PortalSignOnRequest,
  returns: z.object({ Status: z.literal('OK'), Message: z.string(), Meta: z.string().describe('The nonce') }),
  problems: [signOnProblem.user_not_allowed],
  async handle({ body, audit }, services: PortalNonceServices) {
    audit(body.EmailAddress);
    return { Status: 'OK' as const, Message: 'SSO Nonce created', Meta: await createPortalNonce(body, services) };
  },
});

export const portalNonceOperations = [createPortalSignOnNonce];
