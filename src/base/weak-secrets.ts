import { problems } from './problems.ts';
import type { SettingName, Settings } from './settings.ts';

const problem = problems('production', {
  weak_secrets: { status: 500, message: '{faults}' },
});

const minSecretBytes = 32;

/** Settings that grant access; unset ones are generated at random. */
const guardedSettings = [
  'admin.secret',
  'gateway.secret',
  'portal.token',
  'master_key',
  'bootstrap.access_key',
] as const satisfies readonly SettingName[];

/** Long but public: keys that other gateways were published with. */
const publishedSecrets = new Set([
  '352d20ee67be67f6340b4c0605b044b7',
  'edd1c9f034335f136f87ad84b625c8f1',
  '4054f7cf07e344346cd3f287985e76a2',
]);
const placeholderPattern = new RegExp(
  [
    'change.?(me|this)|replace.?(me|this)|placeholder|example|insecure|do.?not.?use|default',
    '(your|my|the|super|very)[^a-z]?(secret|token|key|password)|0123456789|abcdefgh|qwerty',
  ].join('|'),
  'i',
);
const repetitionPattern = /^(.{1,16}?)\1+.{0,15}$/s;

/** Throws in production mode for secrets that are short or well known, naming each. */
export function rejectWeakSecrets(settings: Settings): void {
  if (!settings.production) return;
  const faults = guardedSettings.flatMap(name => {
    const weakness = settings[name] ? describeWeakness(settings[name]) : undefined;
    return weakness ? [`${name}: ${weakness}; production needs at least ${minSecretBytes} random bytes`] : [];
  });
  if (faults.length > 0) throw problem.weak_secrets({ detail: { faults: faults.join('\n') } });
}

function describeWeakness(secret: string): string | undefined {
  const given = secret.trim();
  const bytes = Buffer.byteLength(given, 'utf8');
  if (bytes < minSecretBytes) return `has only ${bytes} bytes`;
  const known =
    publishedSecrets.has(given.toLowerCase()) || placeholderPattern.test(given) || repetitionPattern.test(given);
  return known ? 'is well known' : undefined;
}
