import { createRequire } from 'node:module';
import type { VerifySignedToken } from '#people/single-sign-on/oidc/id-token.ts';
import type { SignedTokenServices } from './signed-token-verifier.ts';

const require = createRequire(import.meta.url);
const loadVerifier = (): typeof import('./signed-token-verifier.ts') => require('./signed-token-verifier.ts');

/** Verifier of tokens on the management side, loaded and created by the first token. */
export function createLazyTokenVerifier(services: SignedTokenServices): VerifySignedToken {
  let verify: VerifySignedToken | undefined;
  return request => {
    verify ??= loadVerifier().createSignedTokenVerifier(services);
    return verify(request);
  };
}
