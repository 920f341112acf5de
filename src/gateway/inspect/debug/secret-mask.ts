import { createRedactor } from '#base/redaction.ts';
import type { StepServices } from '../../steps/step-services.ts';

/** Redacts what a test shows: the secrets that any definition was given, and those in the settings that none names. */
export function createSecretMask({
  settings,
  secrets,
}: Pick<StepServices, 'settings' | 'secrets'>): (text: string) => string {
  const redactor = createRedactor();
  for (const value of Object.values(settings['secrets.values'])) redactor.add(value);
  return text => redactor.redact(secrets.redact(text));
}
