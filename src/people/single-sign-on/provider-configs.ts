import { z } from 'zod';

/** Members of `ProviderConfig`, one row for each provider. What a row does not declare is refused. */

const maxScopes = 50;

const isLoopback = ({ hostname }: URL) => hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);

/** Identity providers are reached over TLS: what they publish decides who may sign on. Loopback is excepted. */
export function isProviderUrl(text: unknown): text is string {
  const url = typeof text === 'string' && text.length <= 2048 ? URL.parse(text) : null;
  if (!url || url.username || url.password || url.hash) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}

const providerUrl = z.string().refine(isProviderUrl, 'must be an https URL (http for loopback)');

/** OpenID Connect Discovery 1.0, section 4: the document's path follows from the issuer. */
export const discoverySuffix = '/.well-known/openid-configuration';

const openIdConnect = z.strictObject({
  Name: z.literal('openid-connect'),
  Key: z.string().min(1).max(500),
  Secret: z.string().max(2000).default(''),
  DiscoverURL: providerUrl.refine(text => text.endsWith(discoverySuffix), `must end with ${discoverySuffix}`),
  Scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/, 'must be a scope'))
    .max(maxScopes)
    .default(['openid', 'email', 'profile'])
    .refine(scopes => scopes.includes('openid'), 'must contain openid'),
  SkipUserInfoRequest: z.boolean().default(false),
});
export type OpenIdConnectConfig = z.output<typeof openIdConnect>;

const socialConfig = z.strictObject({
  UseProviders: z.array(openIdConnect).length(1, 'must have one provider, openid-connect'),
});

interface ProviderRow {
  /** Last segment of the login URL. */
  readonly segment: string;
  /** Through the browser, or with a name and a password that are checked here. */
  readonly type: 'redirect' | 'passthrough';
  readonly config: z.ZodType;
}

export const providerTable = {
  SocialProvider: { segment: 'openid-connect', type: 'redirect', config: socialConfig },
} as const satisfies Readonly<Record<string, ProviderRow>>;

export type ProviderName = keyof typeof providerTable;
export const providerNames = Object.keys(providerTable) as [ProviderName, ...ProviderName[]];

export const readOpenIdConnect = (config: unknown): OpenIdConnectConfig => socialConfig.parse(config).UseProviders[0]!;
