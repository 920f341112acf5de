import { type SecretPlace, secretPlaces, secretsOf } from '#base/secrets.ts';
import type { Settings } from '#base/settings.ts';

/** Shorter ones stand in too much other text to be told from it. */
const shortest = 4;
const named = /\$secret_([a-z]+)\.([A-Za-z0-9_.-]+)/g;
const isPlace = (text: string): text is SecretPlace => (secretPlaces as readonly string[]).includes(text);

/** Takes the operator's secrets out of what a test shows: those in the settings, and those that the definition names. */
export function secretMask(definition: unknown, settings: Settings): (text: string) => string {
  const secrets = secretsOf(settings);
  const inDefinition = [...JSON.stringify(definition).matchAll(named)].map(([, place, name]) =>
    isPlace(place!) ? secrets.find(place, name!) : undefined,
  );
  const known = [...Object.values(settings['secrets.values']), ...inDefinition];
  const hidden = [...new Set(known)].filter(it => it !== undefined && it.length >= shortest) as string[];
  hidden.sort((a, b) => b.length - a.length);
  return text => hidden.reduce((shown, secret) => shown.replaceAll(secret, '********'), text);
}
