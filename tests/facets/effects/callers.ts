import type { Effect } from '../effect.ts';
import { certificates } from './certificates.ts';
import { jwt } from './jwt.ts';
import { oauth } from './oauth.ts';
import { oidc } from './oidc.ts';
import { passwords } from './passwords.ts';
import { securedUpstreams } from './secured-upstreams.ts';
import { sessions } from './sessions.ts';
import { sources } from './sources.ts';
import { tokens } from './tokens.ts';

/** How callers show who they are, and how the gateway and its upstreams do. */
export const callers: readonly Effect[] = [
  ...sources,
  ...tokens,
  ...jwt,
  ...oauth,
  ...oidc,
  ...passwords,
  ...sessions,
  ...certificates,
  ...securedUpstreams,
];
