import { type SecretPlace, secretsOf } from '#base/secrets.ts';
import type { Model } from '#definition/model.ts';
import type { GatewayTools } from '../tools.ts';

/** A whole text that stands for a secret, anywhere in a definition. */
export const reference = /^(secrets|env|file|vault|consul|kv):\/\/(.*)$/s;
export const referencePlaces: Readonly<Record<string, SecretPlace>> = { secrets: 'conf', env: 'env', file: 'file' };

/** Not the gateway's to read: documents for others. */
const untouched: ReadonlySet<string> = new Set(['document', 'streams', 'graphql', 'identity']);

/** Headers are set to texts with variables: their secrets are found with those, and kept out of records by their name. */
const headersSet = 'add';

export interface Resolved {
  readonly model: Model;
  /** The first secret that is missing; empty where all are there. */
  readonly missing: string;
}

/** The definition with its secrets put in; the very same where it names none. */
export function withReferences(model: Model, { settings }: Pick<GatewayTools, 'settings'>): Resolved {
  let missing = '';

  function put(text: string): string {
    const [, kind, name] = reference.exec(text) ?? [];
    if (kind === undefined) return text;
    const place = referencePlaces[kind];
    const found = place && secretsOf(settings).find(place, name!);
    if (found === undefined)
      missing ||= place ? `the secret ${text} is missing` : `the gateway keeps no secrets in ${kind}`;
    return found ?? '';
  }

  function walked(value: unknown): unknown {
    if (typeof value === 'string') return value.includes('://') ? put(value) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map(walked);
      return items.some((item, at) => item !== value[at]) ? items : value;
    }
    let changed: Record<string, unknown> | undefined;
    for (const [name, member] of Object.entries(value)) {
      if (name === headersSet) continue;
      const put = walked(member);
      if (put !== member) changed = { ...(changed ?? value), [name]: put };
    }
    return changed ?? value;
  }

  const own = Object.entries(model).filter(([name]) => !untouched.has(name));
  const changes = own
    .map(([name, value]) => [name, walked(value)] as const)
    .filter(([name, it]) => it !== model[name as keyof Model]);
  return { model: changes.length > 0 ? ({ ...model, ...Object.fromEntries(changes) } as Model) : model, missing };
}
