import { formatPath, type Json } from '#base/json.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';

/** Mask of a secret in responses; sent back, it keeps the stored secret. */
export const mask = '********';

/** Names of secret members: `Secret`, `LDAPAdminPassword`, `DashboardCredential`, `SPPrivateKey` and the like. */
const secretName = /(secret|password|credential|privatekey)$/i;

/** Names of members that choose the provider: the secrets beside them are sent there, or used on what it sends. */
const addressName = /(url|server|port|host|metadata)$/i;

type JsonObject = { [name: string]: Json };
type Path = readonly (string | number)[];
/** Replacement of the secret `name` in `holder`; `other` is the corresponding object of the other document. */
type SecretTransform = (holder: JsonObject, name: string, other: JsonObject | undefined, path: Path) => Json;

/** Maps every secret of a document, with the corresponding object of another document. */
function mapSecrets(value: Json, change: SecretTransform, other?: Json, path: Path = []): Json {
  if (Array.isArray(value))
    return value.map((item, place) => mapSecrets(item, change, findCounterpart(item, place, other), [...path, place]));
  if (!isObject(value)) return value;
  const otherObject = isObject(other) ? other : undefined;
  const members = Object.entries(value).map(([name, member]) => {
    const here = [...path, name];
    if (secretName.test(name)) return [name, change(value, name, otherObject, here)];
    return [name, mapSecrets(member, change, otherObject && getOwn(otherObject, name), here)];
  });
  return Object.fromEntries(members) as JsonObject;
}

const getOwn = (value: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Corresponding item of another list, by `Name`, or by `Name` and `Key` where two share a name. By index
 * alone, removing the first would hand its secret to the second.
 */
function findCounterpart(item: Json, place: number, other: Json | undefined): Json | undefined {
  if (!Array.isArray(other)) return undefined;
  if (!isObject(item) || item.Name === undefined) return other[place];
  const namesakes = other.filter(it => isObject(it) && it.Name === item.Name);
  if (namesakes.length === 1) return namesakes[0];
  const same = namesakes.filter(it => isObject(it) && it.Key === item.Key);
  return same.length === 1 ? same[0] : undefined;
}

/** Maps every non-empty secret, e.g. to seal or open it. */
export const transformSecrets = (value: JsonObject, change: (text: string) => string): JsonObject =>
  mapSecrets(value, (holder, name) => {
    const secret = holder[name]!;
    return typeof secret === 'string' && secret !== '' ? change(secret) : secret;
  }) as JsonObject;

export const maskSecrets = (value: JsonObject): JsonObject => transformSecrets(value, () => mask);

/** Restores stored secrets where the mask was sent; `path` prefixes faults. */
export function restoreMaskedSecrets(sent: JsonObject, stored: JsonObject | undefined, path: string): JsonObject {
  const faults: ValidationError[] = [];
  const whole = mapSecrets(
    sent,
    (holder, name, other, at) => {
      const fault = (message: string) => faults.push({ path: formatPath([path, ...at]), message });
      const secret = holder[name]!;
      const storedSecret = other && getOwn(other, name);
      if (typeof secret !== 'string') fault('must be text');
      if (secret !== mask) return secret;
      if (typeof storedSecret !== 'string') fault('is masked, and no secret is stored for it: send the secret itself');
      else if (findChangedAddress(holder, other!))
        fault(`must be sent again when ${findChangedAddress(holder, other!)} changes`);
      return storedSecret ?? secret;
    },
    stored,
  );
  if (faults.length > 0) throw createInvalidProblem(faults);
  return whole as JsonObject;
}

/** Name of a changed address member: a stored secret is never sent to a new address. */
const findChangedAddress = (holder: JsonObject, other: JsonObject): string | undefined =>
  Object.keys(holder).find(name => addressName.test(name) && holder[name] !== getOwn(other, name));
