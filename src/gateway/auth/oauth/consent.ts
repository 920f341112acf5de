import type { GrantConsent } from '#access/oauth/consent.ts';
import { problem } from '#access/oauth/problems.ts';
import { problem as accessProblem } from '#access/problems.ts';
import { toModel } from '#apis/api/rules.ts';
import type { ApiStore } from '#apis/api/store.ts';
import { createRedactor } from '#base/redaction.ts';
import type { Settings } from '#base/settings.ts';
import type { GrantStore } from '#people/organisations/grant-store.ts';
import { isSecretGranted } from '#people/organisations/grants.ts';
import { createDefinitionSecrets } from '../../variables/definition-secrets.ts';
import { resolveReferences } from '../../variables/secret-references.ts';
import type { OauthProvider } from './provider.ts';
import { toProviderSettings } from './provider-settings.ts';
import { isOauthError, oauthErrorTexts } from './responses.ts';

export interface ConsentOptions {
  readonly provider: OauthProvider;
  readonly apis: ApiStore;
  readonly grants: GrantStore;
  readonly settings: Settings;
}

/**
 * Consent by a management operation: reads the definition of the API from the database, so that it works in processes
 * without traffic, and calls the provider as the route below the listen path does.
 */
export function createConsent({ provider, apis, grants, settings }: ConsentOptions): GrantConsent {
  return async ({ orgId, apiId, parameters }) => {
    const stored = await apis.get(orgId, apiId);
    if (!stored) throw accessProblem.api_not_found();
    const granted = await grants.find(orgId);
    const isGranted = (_orgId: string, name: string) => isSecretGranted(granted, name);
    const secrets = createDefinitionSecrets({ settings, redactor: createRedactor(), isGranted }).forOrganisation(orgId);
    const { model, missing } = resolveReferences(toModel(stored), secrets);
    const providerSettings = toProviderSettings(model);
    if (!providerSettings) throw problem.api_without_tokens();
    if (!model.identity.active) throw problem.api_inactive();
    // Tokens are reported to the API's notification address, which a secret may be part of; codes are not.
    if (missing !== '' && parameters.response_type !== 'code')
      return {
        error: 'server_error',
        description: 'A secret that the definition references is missing on this gateway',
      };
    const result = await provider.consent({ provider: providerSettings, parameters });
    if (isOauthError(result))
      return { error: result.error, description: result.description ?? oauthErrorTexts[result.error] };
    return { granted: result };
  };
}
