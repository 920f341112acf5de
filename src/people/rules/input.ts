import type { Json } from '#base/json.ts';
import { redactedText } from '#base/redaction.ts';
import { isSecretName } from '#base/secret-names.ts';
import type { Actor } from '#operations/actor.ts';
import type { Method } from '#operations/operation.ts';
import type { AuthorizedRequest } from '#operations/run-operation.ts';

/** Document `input` of the rules. */
export interface RuleInput {
  readonly user: Readonly<Record<string, unknown>>;
  readonly request: Readonly<Record<string, unknown>>;
}

const intents: Partial<Record<Method, string>> = { GET: 'read', DELETE: 'delete' };

export const toRuleInput = (actor: Actor, { operation, method, path, query, body }: AuthorizedRequest): RuleInput => ({
  user: {
    id: actor.id,
    email_address: actor.name,
    org_id: actor.orgId,
    group_id: actor.groupIds?.[0] ?? '',
    group_ids: actor.groupIds ?? [],
    user_permissions: actor.permissions,
  },
  request: {
    operation,
    method,
    path,
    intent: intents[method] ?? 'write',
    query,
    ...(body !== undefined && { body: maskSecrets(body as Json) }),
  },
});

/** Secret masking: rules, and the log of an agent, get no credential that a body carries. */
function maskSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (typeof value !== 'object' || value === null) return value;
  const mask = ([name, member]: [string, Json]): [string, Json] =>
    isSecretName(name) && typeof member === 'string' && member !== ''
      ? [name, redactedText]
      : [name, maskSecrets(member)];
  return Object.fromEntries(Object.entries(value).map(mask));
}
