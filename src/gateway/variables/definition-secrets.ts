import type { Redactor } from '#base/redaction.ts';
import { createSecretResolver } from '#base/secrets.ts';
import type { Settings } from '#base/settings.ts';
import type { DefinitionSecrets } from '../pipeline/services.ts';

export interface DefinitionSecretsOptions {
  readonly settings: Pick<Settings, 'secrets.values' | 'secrets.directory'>;
  readonly redactor: Redactor;
  /** True where the operator granted the organisation secrets of that name. */
  readonly isGranted: (orgId: string, name: string) => boolean;
}

/** Has no organisation: it finds nothing until `forOrganisation`. */
export function createDefinitionSecrets({
  settings,
  redactor,
  isGranted,
}: DefinitionSecretsOptions): DefinitionSecrets {
  const { redact } = redactor;
  const of = (orgId: string): DefinitionSecrets => ({
    find(place, name) {
      const secret = isGranted(orgId, name) ? createSecretResolver(settings).find(place, name) : undefined;
      if (secret !== undefined) redactor.add(secret);
      return secret;
    },
    redact,
    forOrganisation: of,
  });
  return { find: () => undefined, redact, forOrganisation: of };
}
