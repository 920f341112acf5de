import { createRedactor } from '#base/redaction.ts';
import type { StepServices } from '../../steps/step-services.ts';

/** Redacts debug output: secrets resolved by any definition, and those in the settings. */
export function createSecretMask({
  settings,
  secrets,
}: Pick<StepServices, 'settings' | 'secrets'>): (text: string) => string {
  const redactor = createRedactor();
  for (const value of Object.values(settings['secrets.values'])) redactor.add(value);
  return text => redactor.redact(secrets.redact(text));
}
