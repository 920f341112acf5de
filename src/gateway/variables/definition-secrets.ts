import type { Redactor } from '#base/redaction.ts';
import { createSecretResolver, type SecretSource } from '#base/secrets.ts';
import type { Settings } from '#base/settings.ts';

/** Secrets that definitions of one organisation may reference. Every value that is read is redacted from then on. */
export interface DefinitionSecrets {
  /** Undefined where the secret is missing, and alike where the organisation has no grant for it. */
  find(place: SecretSource, name: string): string | undefined;
  /** Replaces every secret that a definition read in this thread. */
  redact(text: string): string;
  /** The secrets of another organisation. */
  forOrganisation(orgId: string): DefinitionSecrets;
}

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
      const found = isGranted(orgId, name) ? createSecretResolver(settings).find(place, name) : undefined;
      if (found !== undefined) redactor.add(found);
      return found;
    },
    redact,
    forOrganisation: of,
  });
  return { find: () => undefined, redact, forOrganisation: of };
}
