import type { Redactor } from '#base/redaction.ts';
import { createSecretResolver, type SecretSource } from '#base/secrets.ts';
import type { Settings } from '#base/settings.ts';

/** The secrets that definitions of one organisation may name. Every value handed out is redacted from then on. */
export interface DefinitionSecrets {
  /** Undefined where there is none of that name, and just so where the organisation has no grant for it. */
  find(place: SecretSource, name: string): string | undefined;
  /** Replaces every secret that any definition was given in this thread. */
  redact(text: string): string;
  /** Those of another organisation. */
  forOrganisation(orgId: string): DefinitionSecrets;
}

export interface DefinitionSecretsOptions {
  readonly settings: Pick<Settings, 'secrets.values' | 'secrets.directory'>;
  readonly redactor: Redactor;
  /** Whether the operator granted an organisation the secrets of that name. */
  readonly isGranted: (orgId: string, name: string) => boolean;
}

/** Belongs to no organisation yet, and finds nothing until it is asked for one with `of`. */
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
