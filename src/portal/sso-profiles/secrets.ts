import { formatPath, type Json } from '#base/json.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';

/** What stands in an answer where a secret is. Sent back, it means that the secret stays. */
export const mask = '********';

/** Members that are secrets wherever they stand: `Secret`, `LDAPAdminPassword`, `DashboardCredential` and their like. */
const secretName = /(secret|password|credential)$/i;

/** Members that say whom a secret beside them is shown to. */
const addressName = /(url|server|port|host)$/i;

type JsonObject = { [name: string]: Json };
type Path = readonly (string | number)[];
/** Says what to put in the place of a secret: `name` of `holder`, with what is known of the same holder elsewhere. */
type SecretTransform = (holder: JsonObject, name: string, other: JsonObject | undefined, path: Path) => Json;

/** Walks an object, and another one of its kind beside it, and changes every secret of the first. */
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
 * The item of another list that is the same thing. Providers have a `Name`, and a `Key` where two share one; by place
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

/** Secrets as `change` makes them: sealed, opened. */
export const transformSecrets = (value: JsonObject, change: (text: string) => string): JsonObject =>
  mapSecrets(value, (holder, name) => {
    const secret = holder[name]!;
    return typeof secret === 'string' && secret !== '' ? change(secret) : secret;
  }) as JsonObject;

export const maskSecrets = (value: JsonObject): JsonObject => transformSecrets(value, () => mask);

/** What a caller sent at `path`, with the stored secret wherever it sent the mask. */
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

/** A stored secret is never shown to an address its owner did not give it for. */
const findChangedAddress = (holder: JsonObject, other: JsonObject): string | undefined =>
  Object.keys(holder).find(name => addressName.test(name) && holder[name] !== getOwn(other, name));
