import { redactedText } from '#base/redaction.ts';
import { type MapSecret, mapNamedSecrets, mapSecrets } from '#definition/secret-places.ts';
import { type Actor, hasPermission } from '#operations/actor.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import type { DefinitionOfKind, StoredApi, Wrapper } from './schema.ts';

type WithSecrets = DefinitionOfKind & { readonly wrapper: Wrapper };

/** References to secrets and variables are not secrets themselves. */
const secretReference =
  /^(?:(?:secrets|env|file|vault|consul|kv):\/\/|(?:[A-Za-z]+ )?\$(?:secret_[a-z]+|gw_context|gw_meta)\.[\w.-]+$)/;

/** Maps every secret of an API: in its definition, and in the webhooks stored beside it. */
export function mapApiSecrets<T extends WithSecrets>(api: T, map: MapSecret): T {
  const own: MapSecret = (value, path) => (secretReference.test(value) ? value : map(value, path));
  const definition = mapSecrets<unknown>(api.kind === 'classic' ? 'classic' : 'oas', api.definition, own);
  const { hook_references, more, ...wrapper } = api.wrapper;
  const beside = mapNamedSecrets({ hook_references, more }, own);
  return { ...api, definition, wrapper: { ...wrapper, ...beside } };
}

/** Secret masking: without permission to write APIs, a reader sees a mask in place of each secret. */
export const maskSecretsFor = (actor: Actor, api: StoredApi): StoredApi =>
  hasPermission(actor, 'apis:write') ? api : mapApiSecrets(api, () => redactedText);

/** Restores stored secrets where a written API has their mask. Rejects a mask where no secret is stored. */
export function restoreSecrets<T extends WithSecrets>(written: T, before?: StoredApi): T {
  const stored = new Map<string, string>();
  if (before && (before.kind === 'classic') === (written.kind === 'classic'))
    mapApiSecrets(before, (value, path) => {
      stored.set(path, value);
      return value;
    });
  const errors: ValidationError[] = [];
  const restored = mapApiSecrets(written, (value, path) => {
    if (value !== redactedText) return value;
    const secret = stored.get(path);
    if (secret === undefined)
      errors.push({ path, message: `${redactedText} is a masked secret, and no secret is stored here` });
    return secret ?? value;
  });
  if (errors.length > 0) throw createInvalidProblem(errors);
  return restored;
}
