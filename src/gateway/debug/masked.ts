import { type SecretPlace, secretsOf } from '#base/secrets.ts';
import type { Settings } from '#base/settings.ts';
import { referencePlaces } from '../variables/references.ts';

/** Shorter ones stand in too much other text to be told from it. */
const shortest = 4;
const named = /\$secret_(conf|env|file)\.([A-Za-z0-9_.-]+)|"(secrets|env|file):\/\/([^"]+)"/g;

/** Takes the operator's secrets out of what a test shows: those in the settings, and those that the definition names. */
export function secretMask(definition: unknown, settings: Settings): (text: string) => string {
  const secrets = secretsOf(settings);
  const inDefinition = [...JSON.stringify(definition).matchAll(named)].map(([, place, name, kind, whole]) =>
    kind ? secrets.find(referencePlaces[kind]!, whole!) : secrets.find(place as SecretPlace, name!),
  );
  const known = [...Object.values(settings['secrets.values']), ...inDefinition];
  const hidden = [...new Set(known)].filter(it => it !== undefined && it.length >= shortest) as string[];
  hidden.sort((a, b) => b.length - a.length);
  return text => hidden.reduce((shown, secret) => shown.replaceAll(secret, '********'), text);
}
