import { getAccessType } from '../apps/provision.ts';
import type { StoredProduct } from '../products/schema.ts';

const authNames: Readonly<Record<string, string>> = {
  authToken: 'API key',
  ba: 'Basic authentication',
  basic: 'Basic authentication',
  jwt: 'JSON Web Token',
  oauth: 'OAuth 2.0',
  hmac: 'HMAC signature',
  keyless: 'No credential',
  custom: 'Custom authentication',
  multiAuth: 'API key and client certificate',
  mutualTLS: 'Client certificate',
  oidc: 'OpenID Connect',
  externalOAuth: 'OAuth 2.0',
};

/** Authentication of a product in words; empty where it has none. */
export function formatAuth(product: StoredProduct): string {
  const type = getAccessType(product);
  return type === '' ? '' : (authNames[type] ?? type);
}
