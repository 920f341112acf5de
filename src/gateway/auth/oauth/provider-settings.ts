import type { Model } from '#definition/model.ts';
import type { ProviderSettings } from './schema.ts';

/** OAuth provider settings of a definition; undefined without OAuth. */
export function toProviderSettings({ authMethods, oauth, identity }: Model): ProviderSettings | undefined {
  if (!authMethods.includes('oauth')) return undefined;
  return {
    apiId: identity.id,
    orgId: identity.orgId,
    authorizeTypes: oauth.allowedAuthorizeTypes,
    grants: oauth.allowedAccessTypes,
    loginUrl: oauth.authLoginRedirect,
    notifyUrl: oauth.notifyUrl,
    notifySecret: oauth.notifySecret,
  };
}
